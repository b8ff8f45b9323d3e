"""What has come of a task, as text: replacements, and where each of them stands afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from midfill_server.documents import Change, Document, Edit, Span
from midfill_server.ondemand.place import Place, line_end_at, moved, text_in
from midfill_server.ondemand.task import Hole
from midfill_server.positions import Encoding
from midfill_server.postprocess import Middle


@dataclass(frozen=True)
class Replacement:
    """A text in place of another, with the document's own line ends."""

    place: Place
    text: str


def replacement_of(lines: Sequence[str], hole: Hole, middle: Middle) -> Replacement:
    """A middle in its hole. What the middle repeats right of the hole is replaced by it."""
    num_given = min(middle.num_absorbed, len(hole.tail))
    end = hole.place.end
    end = end._replace(column=end.column + middle.num_absorbed - num_given)
    text = hole.lead + middle.text + hole.tail[num_given:]
    line_end = line_end_at(lines, hole.place.start.row)
    return Replacement(Place(hole.place.start, end), text.replace("\n", line_end))


def copy_of(document: Document) -> Document:
    """A document of its own with the same text."""
    copy = Document(document.uri, document.language, document.version, "")
    copy.lines = list(document.lines)
    copy.around = document.around
    return copy


class Filling:
    """Holes of a document as they are filled, first to last, in a copy: each sees what was put into those before it.

    `holes`: those that were filled, each with its number among those of the task and its middle in `middles`.
    `replacements`: in the original document. `after`: where each of them stands when all are put in. `num_broken`:
    holes whose drafts break the text, whether they were put in or not.
    """

    def __init__(self, document: Document) -> None:
        self.original = document
        self.copy = copy_of(document)
        self.holes: list[Hole] = []
        self.numbers: list[int] = []
        self.middles: list[str] = []
        self.replacements: list[Replacement] = []
        self.after: list[Place] = []
        self.num_broken = 0
        self._changes: list[Change] = []

    def fork(self) -> Filling:
        """One that goes on from here by itself."""
        other = Filling(self.original)
        other.copy = copy_of(self.copy)
        other.holes, other.numbers, other.middles = list(self.holes), list(self.numbers), list(self.middles)
        other.replacements, other.after = list(self.replacements), list(self.after)
        other._changes, other.num_broken = list(self._changes), self.num_broken
        return other

    def now(self, hole: Hole) -> Hole | None:
        """A hole of the original document where it is in the copy by now; None if another has swallowed it."""
        place: Place | None = hole.place
        for change in self._changes:
            place = moved(place, change) if place is not None else None
        return None if place is None else replace(hole, place=place)

    def put(self, number: int, hole: Hole, middle: Middle) -> None:
        """Fill a hole of the original document that is still there."""
        here = self.now(hole)
        assert here is not None, hole
        replacement = replacement_of(self.original.lines, hole, middle)
        given = text_in(self.original.lines, Place(hole.place.end, replacement.place.end))
        self.holes.append(replace(hole, tail=hole.tail + given))
        self.numbers.append(number)
        self.middles.append(middle.text)
        self.replacements.append(replacement)
        self._put_into_copy(replacement_of(self.copy.lines, here, middle))

    def _put_into_copy(self, replacement: Replacement) -> None:
        start, end = replacement.place.start, replacement.place.end
        edit = Edit(replacement.text, Span(start.row, start.column, end.row, end.column))
        (change,) = self.copy.apply([edit], self.copy.version, Encoding.UTF32)
        self._changes.append(change)
        self.after.append(Place(change.start, change.new_end))
