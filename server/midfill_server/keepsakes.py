"""How much of what was accepted is still there a while later: the surest sign that a suggestion was worth it.

Where an accepted text stands is followed through later changes. After a minute, or when the document is closed, the
characters of it that are still there, in their order, are counted. Nothing but the count is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from midfill_server.documents import Change, after
from midfill_server.positions import Point

KEPT_AFTER_S = 60.0
MOST_WATCHED = 64
MOST_GROWTH = 4
"""A place that has grown by more holds other things by now; they are not searched."""


@dataclass(frozen=True, kw_only=True)
class Keepsake:
    """An accepted text, from `start` to `end` in the document as it is now. `since` is when it was accepted."""

    uri: str
    text: str
    start: Point
    end: Point
    since: float


@dataclass(frozen=True)
class Kept:
    """Characters that were watched, and those that are still there."""

    num_watched: int = 0
    num_kept: int = 0

    def __add__(self, other: Kept) -> Kept:
        return Kept(self.num_watched + other.num_watched, self.num_kept + other.num_kept)


class Keepsakes:
    """What was accepted in the last minute."""

    def __init__(self) -> None:
        self._watched: list[Keepsake] = []

    def __len__(self) -> int:
        return len(self._watched)

    @property
    def uris(self) -> set[str]:
        return {each.uri for each in self._watched}

    def watch(self, uri: str, lines: Sequence[str], start: Point, text: str, now: float) -> None:
        """Follow a text that has been put in; one that is not there is not followed."""
        keepsake = Keepsake(uri=uri, text=text, start=start, end=after(start, text), since=now)
        if _text_of(keepsake, lines) == text:
            self._watched = [*self._watched[-MOST_WATCHED + 1 :], keepsake]

    def on_change(self, uri: str, changes: Iterable[Change]) -> None:
        """The document has changed."""
        for change in changes if any(each.uri == uri for each in self._watched) else ():
            self._watched = [_moved(each, change) if each.uri == uri else each for each in self._watched]

    def settle(self, uri: str, lines: Sequence[str], until: float) -> Kept:
        """Count what was accepted in a document up to some time, and watch it no more."""
        due = [each for each in self._watched if each.uri == uri and each.since <= until]
        self._watched = [each for each in self._watched if each not in due]
        return sum((_count(each, lines) for each in due), Kept())


def _count(keepsake: Keepsake, lines: Sequence[str]) -> Kept:
    now = _text_of(keepsake, lines)[: MOST_GROWTH * len(keepsake.text)]
    blocks = SequenceMatcher(None, keepsake.text, now, autojunk=False).get_matching_blocks()
    return Kept(len(keepsake.text), sum(block.size for block in blocks))


def _text_of(keepsake: Keepsake, lines: Sequence[str]) -> str:
    """What stands there now, line ends all \\n, as the suggestion's were."""
    start, end = keepsake.start, keepsake.end
    if end.row >= len(lines):
        return ""
    rows = list(lines[start.row : end.row + 1])
    rows[-1] = rows[-1][: end.column]
    rows[0] = rows[0][start.column :]
    return "".join(rows).replace("\r\n", "\n").replace("\r", "\n")


def _moved(keepsake: Keepsake, change: Change) -> Keepsake:
    start, end = keepsake.start, keepsake.end
    if start >= change.end:
        start = _shifted(start, change)
    elif start > change.start:
        start = change.new_end
    if end > change.start:
        end = _shifted(end, change) if end >= change.end else change.start
    return replace(keepsake, start=start, end=max(start, end))


def _shifted(point: Point, change: Change) -> Point:
    row = point.row + change.new_end.row - change.end.row
    is_same_row = point.row == change.end.row
    return Point(row, change.new_end.column + point.column - change.end.column if is_same_row else point.column)
