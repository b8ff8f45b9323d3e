"""Whether a process still lives: by its id and the time it began, since the system gives ids again."""

from __future__ import annotations

from contextlib import suppress

import psutil

SAME_START_S = 1.0


def own_start() -> float:
    """When this process began, in seconds since the epoch."""
    return float(psutil.Process().create_time())


def is_alive(pid: int, started: float) -> bool:
    """Whether the process with this id is there and is the one that began then."""
    return _find(pid, started) is not None


def kill(pid: int, started: float) -> None:
    """End the process at once, if it is still that one."""
    process = _find(pid, started)
    if process is not None:
        with suppress(psutil.Error):
            process.kill()


def _find(pid: int, started: float) -> psutil.Process | None:
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        is_same = abs(process.create_time() - started) < SAME_START_S
        return process if is_same and process.status() != psutil.STATUS_ZOMBIE else None
    return None
