"""Whether somebody answers at an engine's address: one blocking question, with the standard library alone.

Whoever starts an engine asks it under the lock, and so does an engine that finds its place taken; neither should pay
for a full HTTP client.
"""

from __future__ import annotations

import socket
from contextlib import closing
from http.client import HTTPConnection, HTTPException

from midfill_engine.service import alive
from midfill_engine.service.record import Address, Record
from midfill_engine.service.transport import LOOPBACK

PATIENCE_S = 5.0


class UnixConnection(HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("engine", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def may_answer(record: Record) -> bool:
    """False: whoever answers there is not the engine. A port that its process has left may be anybody's by now."""
    return not record.address.port or alive.is_alive(record.pid, record.started)


def is_answering(record: Record | None, patience_s: float = PATIENCE_S) -> bool:
    """Whether an engine is there and will begin what it is asked."""
    if record is None or not may_answer(record):
        return False
    address = record.address
    with closing(_connection(address, patience_s)) as connection:
        try:
            connection.request("GET", "/health", headers={"Authorization": f"Bearer {address.token}"})
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False


def _connection(address: Address, patience_s: float) -> HTTPConnection:
    if address.port:
        return HTTPConnection(LOOPBACK, address.port, timeout=patience_s)
    return UnixConnection(address.socket, patience_s)
