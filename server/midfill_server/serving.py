"""From a greeted client to a running server. Imports the library that is heavy to import; see `handshake`.

A thread of its own reads messages and hands each to the event loop. It is no thread of a pool: a pool that is busy
would stop the reading, cancellations included.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from typing import BinaryIO

from midfill_server.engine_link import EngineDoor
from midfill_server.framing import FramingError, MessageWriter, read_body
from midfill_server.handshake import Hello
from midfill_server.language_server import MidfillServer, make_server
from midfill_server.leaving import leave, leave_soon
from midfill_server.logs import start_logging
from midfill_server.session import make_session
from midfill_server.status import Status
from midfill_server.tally_file import default_path

logger = logging.getLogger(__name__)

STATUS_METHOD = "didChangeStatus"


def serve(hello: Hello, stream: BinaryIO, writer: MessageWriter, door: EngineDoor) -> None:
    """Serve the client until it leaves; then the process ends."""
    asyncio.run(_serve(hello, stream, writer, door))


async def _serve(hello: Hello, stream: BinaryIO, writer: MessageWriter, door: EngineDoor) -> None:
    def tell(status: Status) -> None:
        if hello.facts.wants_status:
            server.protocol.notify(STATUS_METHOD, _status_params(status))

    session = make_session(hello.facts, door, tell, default_path)
    start_logging(session.settings.current.log_level, session.settings.current.log_file)
    server = make_server(session, hello.gives_completion)
    server.protocol.set_writer(writer)
    server.protocol.welcome(hello.facts.encoding, hello.facts.has_notebooks)
    gc.freeze()  # what is there now stays: collections need not look at it again
    _read_in_thread(stream, server, asyncio.get_running_loop())
    await asyncio.Event().wait()


def _status_params(status: Status) -> dict[str, object]:
    return {"kind": str(status.kind), "message": status.message, "busy": status.busy}


def _read_in_thread(stream: BinaryIO, server: MidfillServer, loop: asyncio.AbstractEventLoop) -> None:
    def read() -> None:
        try:
            while (body := read_body(stream)) is not None:
                loop.call_soon_threadsafe(server.protocol.receive, body)
        except (FramingError, OSError, ValueError) as error:
            logger.error("the client cannot be understood any more: %s", error)
        code = 0 if server.protocol._shutdown else 1
        leave_soon(code)
        loop.call_soon_threadsafe(leave, code)

    threading.Thread(target=read, name="midfill-read", daemon=True).start()
