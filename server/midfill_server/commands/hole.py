"""Where the middle goes: a position, a range or a marker in a text becomes what stands before and after the hole.

Positions are 1-based lines and columns; a column counts characters (code points). Lines end at \\n, \\r\\n or \\r only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from midfill_server.commands.errors import UsageError
from midfill_server.documents import split_lines
from midfill_server.positions import without_eol

POSITION = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


@dataclass(frozen=True, kw_only=True)
class Position:
    """1-based; `column` 1 is before the first character of the line."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


@dataclass(frozen=True, kw_only=True)
class Hole:
    """`selection` stands in the hole now and is replaced."""

    prefix: str
    suffix: str
    selection: str = ""

    def filled(self, middle: str) -> str:
        """The whole text with `middle` in the hole."""
        return self.prefix + middle + self.suffix


def parse_position(told: str) -> Position:
    """`12:5`. Raises UsageError."""
    match = POSITION.fullmatch(told)
    if match is None:
        raise UsageError(f"{told!r} is not a position: write LINE:COL, for example 12:5")
    return Position(line=int(match[1]), column=int(match[2]))


def hole_at(text: str, start: Position, end: Position | None = None) -> Hole:
    """The hole from `start` to `end` (None: an empty one). Raises UsageError for a position outside the text."""
    begin = offset_of(text, start)
    finish = begin if end is None else offset_of(text, end)
    if finish < begin:
        raise UsageError(f"--to {end} is before --at {start}: swap them")
    return Hole(prefix=text[:begin], selection=text[begin:finish], suffix=text[finish:])


def hole_at_marker(text: str, marker: str) -> Hole:
    """The hole is where `marker` stands; the marker itself goes. Raises UsageError unless it is there once."""
    if not marker:
        raise UsageError("--marker is empty: name a text that stands where the hole is")
    num_found = len(re.findall(f"(?={re.escape(marker)})", text))
    if num_found == 0:
        raise UsageError(f"the marker {marker!r} is not in the text: put it where the hole is")
    if num_found > 1:
        raise UsageError(f"the marker {marker!r} is in the text {num_found} times: take one that is there once")
    prefix, _, suffix = text.partition(marker)
    return Hole(prefix=prefix, suffix=suffix)


def offset_of(text: str, position: Position) -> int:
    """The code point offset. Raises UsageError."""
    lines = split_lines(text)
    if not 1 <= position.line <= len(lines):
        raise UsageError(f"{position} is outside the text, which has lines 1 to {len(lines)}")
    *before, line = lines[: position.line]
    num_columns = len(without_eol(line)) + 1
    if not 1 <= position.column <= num_columns:
        raise UsageError(f"{position} is outside the text: line {position.line} has columns 1 to {num_columns}")
    return sum(map(len, before)) + position.column - 1
