"""The language server's process: greets the client at once, then becomes the server.

Imports nothing that takes time; see `handshake`.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from midfill_server.framing import FramingError, MessageWriter
from midfill_server.handshake import shake_hands
from midfill_server.leaving import leave, watch_parent, watch_process

if TYPE_CHECKING:
    from midfill_server.engine_link import EngineDoor


def run_stdio(make_door: Callable[[], EngineDoor] | None = None) -> None:
    """Be a language server on stdin and stdout. Ends the process when the client leaves, in whatever way.

    `make_door`: how to get at an engine, asked for when the client has been greeted; None: the user's shared engine
    processes.
    """
    watch_parent(os.getppid())
    if sys.platform != "win32":
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends at once, instead of in the middle of a callback
    stream, writer = sys.stdin.buffer, MessageWriter(_claim_stdout())
    try:
        hello = shake_hands(stream, writer)
    except FramingError as error:
        print(f"midfill: {error}", file=sys.stderr)
        leave(1)
    if hello is None:
        leave(1)
    watch_process(hello.facts.process_id)
    gc.disable()  # thousands of classes are about to be made, and all of them stay
    from midfill_server.engine_link import EngineDoor
    from midfill_server.serving import serve

    gc.enable()
    serve(hello, stream, writer, make_door() if make_door else EngineDoor())


def _claim_stdout() -> BinaryIO:
    """stdout for messages only: whatever else is printed in this process goes to stderr."""
    stdout = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return stdout
