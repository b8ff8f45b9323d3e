"""A place in a document: where it is, what stands there, and where it is after edits elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from midfill_server.documents import Change, Document, Span
from midfill_server.positions import Encoding, Point, locate, without_eol
from midfill_server.snapshot import take


@dataclass(frozen=True)
class Place:
    """From `start` to `end`, in code points; the two are the same where nothing stands yet."""

    start: Point
    end: Point

    @property
    def is_empty(self) -> bool:
        return self.start == self.end


def place_of(lines: Sequence[str], span: Span, encoding: Encoding) -> Place:
    """A client's range, the right way round whatever the client says."""
    first = locate(lines, span.start_line, span.start_character, encoding)
    second = locate(lines, span.end_line, span.end_character, encoding)
    return Place(min(first, second), max(first, second))


def text_in(lines: Sequence[str], place: Place) -> str:
    """What stands there, line ends as in the document."""
    start, end = place.start, place.end
    if end.row >= len(lines):
        return ""
    if start.row == end.row:
        return lines[start.row][start.column : end.column]
    return "".join([lines[start.row][start.column :], *lines[start.row + 1 : end.row], lines[end.row][: end.column]])


def trimmed(lines: Sequence[str], place: Place) -> Place:
    """The hole that is meant by a selection: without the indentation before it and the line end after it.

    Editors select whole lines from the beginning of the first to the beginning of the line after the last. Indentation
    and line ends are kept by keeping them outside of the hole. Of blank lines everything but the first indentation
    and the last line end is the hole.
    """
    if place.is_empty:
        return place
    text = text_in(lines, place)
    if not text.strip():
        return _trimmed_blank(lines, place)
    start = _forward(lines, place.start, len(text) - len(text.lstrip()))
    return Place(start, _forward(lines, start, len(text.strip())))


def _trimmed_blank(lines: Sequence[str], place: Place) -> Place:
    start, end = place.start, place.end
    if end.column == 0 and end.row > start.row:
        end = Point(end.row - 1, len(without_eol(lines[end.row - 1])))
    body = without_eol(lines[start.row])
    indent = len(body) - len(body.lstrip(" \t"))
    return Place(min(Point(start.row, max(start.column, indent)), end), end)


def _forward(lines: Sequence[str], start: Point, num_characters: int) -> Point:
    """So many characters further on, line ends counted."""
    row, column = start.row, start.column + num_characters
    while row + 1 < len(lines) and column >= len(lines[row]):
        column -= len(lines[row])
        row += 1
    return Point(row, column)


def moved(place: Place, change: Change) -> Place | None:
    """Where a place is after a change somewhere else; None if the change was in it."""
    if change.end <= place.start:
        return Place(_shifted(place.start, change), _shifted(place.end, change))
    return place if change.start >= place.end else None


def _shifted(point: Point, change: Change) -> Point:
    row = point.row + change.new_end.row - change.end.row
    is_same_line = point.row == change.end.row
    return Point(row, change.new_end.column + point.column - change.end.column if is_same_line else point.column)


def has_rows(place: Place, other: Place) -> bool:
    """Whether the two have a row in common."""
    return place.start.row <= other.end.row and other.start.row <= place.end.row


def around(document: Document, place: Place) -> tuple[str, str]:
    """What a model reads before and after a place: bounded, lines ended by \\n."""
    before = take(document, *place.start, Encoding.UTF32).prefix
    return before, take(document, *place.end, Encoding.UTF32).suffix


def line_end_at(lines: Sequence[str], row: int) -> str:
    """How lines end there: as this line does, else the one before it."""
    for line in (*lines[row : row + 1], *lines[max(row - 1, 0) : row]):
        if (end := line[len(without_eol(line)) :]) in ("\n", "\r\n", "\r"):
            return end
    return "\n"
