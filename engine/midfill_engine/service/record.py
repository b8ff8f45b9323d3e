"""How to reach an engine process: a small file that the process writes and every client reads.

It is written whole or not at all, and a reader takes whatever does not make sense for nothing there, so that a file
left over by a crash or cut short by a full disk never stands in anybody's way.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from midfill_engine import wire
from midfill_engine.errors import RequestError


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where it listens: the path of a Unix socket, or a port of the loopback interface and the token to show there."""

    socket: str = ""
    port: int = 0
    token: str = ""


@dataclass(frozen=True, kw_only=True)
class Record:
    """A running engine process. `started`: when it began, in seconds since the epoch; a `pid` alone is used again."""

    pid: int
    started: float
    version: str
    preset: str
    device: str
    address: Address


def read(path: Path) -> Record | None:
    """What the file says; None where it says nothing."""
    try:
        return wire.parse(path.read_bytes(), Record)
    except (OSError, RequestError):
        return None


def write(path: Path, record: Record) -> None:
    """Write the file, readable by the user alone."""
    # mkstemp makes it 0600; replacing is atomic, so a reader sees the old file or the new one.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(wire.dump_line(wire.to_wire(record)))
        Path(name).replace(path)
    except OSError:
        with suppress(OSError):
            Path(name).unlink()
        raise


def remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
