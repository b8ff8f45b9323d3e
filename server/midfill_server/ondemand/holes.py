"""Holes found by syntax as tasks: one of them, those of a range, or all of a document."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from midfill_engine.syntax.holes import find_holes
from midfill_server.documents import Document
from midfill_server.ondemand.place import Place, has_rows, text_in
from midfill_server.ondemand.task import Hole, NothingToDo, Task
from midfill_server.positions import Point, without_eol

FILL_HOLE = "Fill this hole"
FILL_HOLES = "Fill all holes"
NEAR_ROWS = 1_000


def fill_hole_task(document: Document, place: Place | None, instruction: str) -> Task:
    """Fill the hole at a place."""
    if place is None:
        raise NothingToDo("a position or a range is needed")
    hole = hole_at(holes_near(document, place), place)
    if hole is None:
        raise NothingToDo("there is no hole here")
    return Task(title=FILL_HOLE, holes=(hole,), selection=text_in(document.lines, hole.place), instruction=instruction)


def fill_holes_task(document: Document, place: Place | None, instruction: str) -> Task:
    """Fill all holes, or all of a range, together."""
    holes = holes_of(document) if place is None else within(holes_near(document, place), place)
    if not holes:
        raise NothingToDo("there is no hole here" if place else "there is no hole in this document")
    return Task(title=FILL_HOLES, holes=holes, instruction=instruction)


def holes_near(document: Document, place: Place) -> tuple[Hole, ...]:
    """The holes around a place: in a big file a few thousand lines are looked at, whatever the rest is."""
    first = max(place.start.row - NEAR_ROWS, 0)
    return _found(document, first, document.lines[first : place.end.row + NEAR_ROWS], place.start)


def holes_of(document: Document) -> tuple[Hole, ...]:
    """The holes of a document, in their order; of a very long one those at its beginning."""
    return _found(document, 0, document.lines, Point(0, 0))


def _found(document: Document, first: int, lines: Sequence[str], around: Point) -> tuple[Hole, ...]:
    """The holes in some of a document's lines, `first` and those after it."""
    starts = [0, *accumulate(map(len, lines))]
    offset = starts[around.row - first] + around.column
    is_stub = document.uri.endswith(".pyi")
    found = find_holes("".join(lines), document.language, around=offset, is_stub=is_stub)

    def point(offset: int) -> Point:
        row = min(bisect_right(starts, offset) - 1, len(lines) - 1)
        return Point(first + row, min(offset - starts[row], len(without_eol(lines[row]))))

    places = (Place(point(hole.start), point(hole.end)) for hole in found)
    return tuple(
        Hole(place=place, lead=_plain(hole.before), tail=_plain(hole.after))
        for place, hole in zip(places, found, strict=True)
    )


def hole_at(holes: tuple[Hole, ...], place: Place) -> Hole | None:
    """The hole that a place touches, else the only one on its rows."""
    touching = [hole for hole in holes if hole.place.start <= place.end and place.start <= hole.place.end]
    near = touching or [hole for hole in holes if has_rows(hole.place, place)]
    return near[0] if near else None


def within(holes: tuple[Hole, ...], place: Place) -> tuple[Hole, ...]:
    """The holes that lie in a place."""
    return tuple(hole for hole in holes if place.start <= hole.place.start and hole.place.end <= place.end)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
