"""Messages on a pair of byte streams: `Content-Length`, a blank line, a body.

Header names are read in any case, lines may end with \\n alone, unknown headers are skipped. Writing never fails: when
the client is gone there is nobody to tell.
"""

from __future__ import annotations

from typing import BinaryIO

LARGEST_BODY = 256 * 1024 * 1024
"""No editor sends more in a message; a length beyond it is nonsense after which nothing can be read."""


class FramingError(Exception):
    """The stream cannot be followed any more."""


def read_body(stream: BinaryIO) -> bytes | None:
    """The next message's body; None at the end of the stream, or in the middle of a message.

    Raises:
        FramingError: the length is no length, or beyond all measure.
    """
    length: int | None = None
    while line := stream.readline(65_536):
        if line.strip():
            length = _length_in(line, length)
        elif length is not None:
            body = stream.read(length)
            return body if len(body) == length else None
    return None


def _length_in(header: bytes, known: int | None) -> int | None:
    name, _, value = header.partition(b":")
    if name.strip().lower() != b"content-length":
        return known
    text = value.strip()
    if not text.isdigit() or len(text) > 12 or int(text) > LARGEST_BODY:
        raise FramingError("a message's length cannot be understood")
    return int(text)


class MessageWriter:
    """Sends bodies, and what a library has framed already."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._is_broken = False

    def send(self, body: bytes) -> None:
        self.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def write(self, data: bytes) -> None:
        if self._is_broken:
            return
        try:
            self._stream.write(data)
            self._stream.flush()
        except (OSError, ValueError):  # ValueError: the stream has been closed
            self._is_broken = True

    def close(self) -> None:
        """Nothing: the process is about to end, and closing would wait for a client that does not read."""
