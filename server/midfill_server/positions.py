"""Positions of the protocol become code-point columns here, and nowhere else.

A client counts the columns of a line in utf-8 bytes, utf-16 units or code points, whichever was agreed on. Python
counts code points. A column inside a character is taken as the column before it; a position past the end of a line or
of the document is taken as that end, because editors send such positions and mean just that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

WIDE = re.compile("[\U00010000-\U0010ffff]")
"""Characters that take two utf-16 units."""


class Encoding(StrEnum):
    """The unit in which a client counts columns."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


class Point(NamedTuple):
    """A place in a document: `row` from 0, `column` in code points, never inside a line end."""

    row: int
    column: int


def without_eol(line: str) -> str:
    """The line without what ends it."""
    return line.rstrip("\r\n")


def locate(lines: Sequence[str], line: int, character: int, encoding: Encoding) -> Point:
    """Where a client's position is in `lines`, of which each but the last has its line end."""
    if line < 0:
        return Point(0, 0)
    if line >= len(lines):
        return Point(len(lines) - 1, len(lines[-1]))
    return Point(line, column_of(without_eol(lines[line]), character, encoding))


def column_of(body: str, units: int, encoding: Encoding) -> int:
    """The code-point column at `units` of `body`, a line without its end."""
    if units <= 0:
        return 0
    if encoding is Encoding.UTF32 or body.isascii():
        return min(units, len(body))
    if encoding is Encoding.UTF8:
        return _column_utf8(body, units)
    return _column_utf16(body, units)


def units_of(body: str, column: int, encoding: Encoding) -> int:
    """The client's column for a code-point column: the inverse of `column_of`."""
    head = body[:column]
    if encoding is Encoding.UTF32 or head.isascii():
        return len(head)
    if encoding is Encoding.UTF8:
        return len(head.encode("utf-8", "surrogatepass"))
    return len(head) + len(WIDE.findall(head))


def _column_utf8(body: str, units: int) -> int:
    encoded = body[:units].encode("utf-8", "surrogatepass")
    end = min(units, len(encoded))
    while end < len(encoded) and encoded[end] & 0xC0 == 0x80:  # inside a character
        end -= 1
    return len(encoded[:end].decode("utf-8", "surrogatepass"))


def _column_utf16(body: str, units: int) -> int:
    head = body[:units]
    num_wide = 0
    for match in WIDE.finditer(head):
        end_units = match.start() + num_wide + 2
        if end_units > units:
            return min(match.start(), units - num_wide)
        num_wide += 1
    return min(units - num_wide, len(body))
