"""Where the cursor may be after a text has changed: the protocol does not say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from midfill_server.agreement import CLOSERS, MOST_CLOSERS
from midfill_server.documents import Change, Document
from midfill_server.positions import Encoding, Point
from midfill_server.snapshot import Snapshot, take


class Cursors:
    """The places where something was put in. A snapshot is taken when it is looked at and no sooner."""

    def __init__(self, document: Document, changes: Sequence[Change]) -> None:
        self._document = document
        self._changes = changes

    def all(self) -> Iterator[Snapshot]:
        """Behind what was put in, and before the closing brackets at its end, which an editor may have added: these
        first, because they take less for granted of what was typed."""
        for change in self._changes:
            end = change.new_end
            for count in range(self._num_closers_before(end), -1, -1):
                yield self._at(Point(end.row, end.column - count))

    def behind(self) -> Iterator[Snapshot]:
        """Behind what was put in."""
        return (self._at(change.new_end) for change in self._changes if change.new_end != change.start)

    def _num_closers_before(self, end: Point) -> int:
        lines = self._document.lines
        head = lines[end.row][: end.column] if end.row < len(lines) else ""
        return min(len(head) - len(head.rstrip("".join(CLOSERS))), MOST_CLOSERS)

    def _at(self, point: Point) -> Snapshot:
        return take(self._document, point.row, point.column, Encoding.UTF32)
