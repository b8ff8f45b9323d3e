"""How clients reach the engine: a Unix socket in a private directory, or loopback TCP with a token (Windows).

A transport binds the socket, says its address, and judges a request's headers. The file system keeps others away from
the Unix socket. TCP is open to every program of the machine and, through a browser, to every web page: there a
request must show the token of the private record, and must name a loopback host, which a page that rebinds its DNS
name cannot.
"""

from __future__ import annotations

import secrets
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from midfill_engine.service.places import Places
from midfill_engine.service.record import Address

LOOPBACK = "127.0.0.1"


class Transport(Protocol):
    """One way to be reached."""

    def bind(self, places: Places) -> socket.socket:
        """A bound socket. What a former engine left in its place is removed: only the place's owner may call it."""
        ...

    @property
    def address(self) -> Address:
        """Where it listens, once bound."""
        ...

    def refusal(self, headers: Mapping[str, str]) -> str:
        """Why a request with these headers (lower-case names) is refused; empty: it is not."""
        ...

    def is_reachable(self) -> bool:
        """False: nobody can find the socket any more."""
        ...

    def release(self) -> None:
        """Remove what `bind` left in the file system."""
        ...


class UnixTransport:
    """A socket that only the user can open."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._inode = 0

    def bind(self, places: Places) -> socket.socket:
        self._path = places.socket
        with suppress(FileNotFoundError):
            self._path.unlink()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # The directory is private, so that nobody gets in between these two.
            listener.bind(str(self._path))
            self._path.chmod(0o600)
        except OSError:
            listener.close()
            raise
        self._inode = self._path.lstat().st_ino
        return listener

    @property
    def address(self) -> Address:
        return Address(socket=str(self._path))

    def refusal(self, headers: Mapping[str, str]) -> str:
        return ""

    def is_reachable(self) -> bool:
        try:
            return self._path is not None and self._path.lstat().st_ino == self._inode
        except OSError:
            return False

    def release(self) -> None:
        if self._path is not None and self.is_reachable():
            self._path.unlink(missing_ok=True)


class LoopbackTransport:
    """A port of the loopback interface, and a token without which nothing is answered."""

    def __init__(self) -> None:
        self._port = 0
        self._token = secrets.token_urlsafe(32)

    def bind(self, places: Places) -> socket.socket:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.bind((LOOPBACK, 0))
        self._port = listener.getsockname()[1]
        return listener

    @property
    def address(self) -> Address:
        return Address(port=self._port, token=self._token)

    def refusal(self, headers: Mapping[str, str]) -> str:
        if headers.get("host", "") not in (f"{LOOPBACK}:{self._port}", f"localhost:{self._port}"):
            return "the host must be the loopback interface"
        shown = headers.get("authorization", "").encode("utf-8", "replace")
        if not secrets.compare_digest(shown, f"Bearer {self._token}".encode()):
            return "the token is missing or wrong"
        return ""

    def is_reachable(self) -> bool:
        return True

    def release(self) -> None:
        """Nothing of it lies in the file system."""


def usual_transport() -> Transport:
    """The one for this system."""
    return LoopbackTransport() if sys.platform == "win32" else UnixTransport()
