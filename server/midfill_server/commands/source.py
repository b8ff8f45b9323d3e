"""The text that is filled, read from a file or stdin as UTF-8, with its byte order mark and line ends."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from midfill_server.commands.errors import CommandError, UsageError

STDIN = "-"
BOM = b"\xef\xbb\xbf"
MAX_BYTES = 16 * 2**20


@dataclass(frozen=True, kw_only=True)
class Source:
    """`path` None: read from stdin. `raw` is all of it, `text` what it says, without the byte order mark."""

    path: Path | None
    raw: bytes
    text: str
    has_bom: bool

    @property
    def name(self) -> str:
        return "stdin" if self.path is None else str(self.path)

    @property
    def line_end(self) -> str:
        """The one that most lines have; a line feed if there is none yet."""
        num_crlf = self.text.count("\r\n")
        counts = {"\n": self.text.count("\n") - num_crlf, "\r\n": num_crlf, "\r": self.text.count("\r") - num_crlf}
        return max(counts, key=counts.__getitem__)  # the first of equals: a line feed

    def with_own_line_ends(self, middle: str) -> str:
        """A middle with the line ends of the text it goes into."""
        return middle.replace("\r\n", "\n").replace("\r", "\n").replace("\n", self.line_end)

    def encode(self, text: str) -> bytes:
        """The bytes that stand for `text` in this file."""
        return (BOM if self.has_bom else b"") + text.encode()


def read_source(name: str) -> Source:
    """Read a file, or stdin for `-`. UsageError if it is no text that can be filled."""
    if name == STDIN:
        return _decode(None, _read_stdin())
    path = Path(name)
    return _decode(path, _read_file(path))


def _read_stdin() -> bytes:
    if sys.stdin is None:
        raise UsageError("there is no standard input: name a file")
    return _bounded("stdin", sys.stdin.buffer.read(MAX_BYTES + 1))


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return _bounded(str(path), file.read(MAX_BYTES + 1))
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a directory: name a file in it") from None
    except PermissionError:
        raise CommandError(f"{path} may not be read: check its permissions") from None
    except ValueError as error:  # a null byte in the name
        raise UsageError(f"{str(path)!r} is no file name: {error}") from None


def _bounded(name: str, raw: bytes) -> bytes:
    if len(raw) > MAX_BYTES:
        raise UsageError(f"{name} is larger than {MAX_BYTES // 2**20} MiB: fill a smaller file")
    return raw


def _decode(path: Path | None, raw: bytes) -> Source:
    name = "stdin" if path is None else str(path)
    if b"\0" in raw:
        raise UsageError(f"{name} is a binary file (it has a null byte): midfill fills text in UTF-8")
    has_bom = raw.startswith(BOM)
    body = raw.removeprefix(BOM)
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        what = f"byte 0x{body[error.start]:02x} in line {line}"
        raise UsageError(f"{name} is not UTF-8 ({what}): convert it to UTF-8 first") from None
    return Source(path=path, raw=raw, text=text, has_bom=has_bom)
