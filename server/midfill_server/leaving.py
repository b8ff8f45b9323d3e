"""The end of the process: at once, whatever is running.

Nothing has to be tidied up. The shared engine sees its connection close and stops the work for us within a step; it
lives on by its own idle rule. So the process is ended with `os._exit`: no thread is joined, no reply is written late.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

LOOK_EVERY_S = 0.25
GRACE_S = 0.5


def leave(code: int) -> NoReturn:
    """End the process now."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
    os._exit(code)


def leave_soon(code: int) -> None:
    """End the process if it has not ended in a moment: nothing more is said to us, or the main thread is stuck, say in
    writing to a client that does not read."""
    timer = threading.Timer(GRACE_S, leave, (code,))
    timer.daemon = True
    timer.start()


def watch_parent(parent: int) -> None:
    """Leave when this process gets another parent: the editor was killed, and others may hold our stdin open."""
    _watch(lambda: os.getppid() == parent)


def watch_process(process_id: int | None) -> None:
    """Leave when a process is gone that is there now. The number of an editor in another container means nothing."""
    if process_id is not None and _is_alive(process_id):
        _watch(lambda: _is_alive(process_id))


def _watch(is_there: Callable[[], bool]) -> None:
    def look() -> None:
        pause = threading.Event()
        while is_there():
            pause.wait(LOOK_EVERY_S)
        leave(1)

    threading.Thread(target=look, name="midfill-watch", daemon=True).start()


def _is_alive(process_id: int) -> bool:
    if sys.platform == "win32":
        import psutil

        return bool(psutil.pid_exists(process_id))
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
