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
PIECE_CHARACTERS = 100_000
MOST_PIECES = 10
MOST_HOLES = 100
"""What is asked for in one go: each takes the model a moment, and somebody looks at all of them afterwards."""


def fill_hole_task(document: Document, place: Place | None, instruction: str) -> Task:
    """Fill the hole at a place."""
    if place is None:
        raise NothingToDo("a position or a range is needed")
    hole = hole_at(holes_near(document, place), place)
    if hole is None:
        raise NothingToDo("there is no hole here")
    return Task(
        title=FILL_HOLE,
        holes=(hole,),
        selection=text_in(document.lines, hole.place),
        instruction=instruction,
        is_strict=True,
    )


def fill_holes_task(document: Document, place: Place | None, instruction: str) -> Task:
    """Fill all holes, or all of a range, together."""
    if place is None:
        holes, num_rows = holes_of(document)
    else:
        holes, num_rows = within(holes_near(document, place), place), len(document.lines)
    remark = f"only the first {num_rows:,} lines were looked at" if num_rows < len(document.lines) else ""
    if not holes:
        raise NothingToDo("there is no hole here" if place else _none_at_all(remark))
    if len(holes) > MOST_HOLES:
        remark = f"these are the first {MOST_HOLES} of {len(holes):,} holes; ask again for the next"
    return Task(title=FILL_HOLES, holes=holes[:MOST_HOLES], instruction=instruction, remark=remark, is_strict=True)


def _none_at_all(remark: str) -> str:
    return f"there is no hole in this document{f' so far: {remark}' if remark else ''}"


def holes_near(document: Document, place: Place) -> tuple[Hole, ...]:
    """The holes around a place: in a big file a few thousand lines are looked at, whatever the rest is."""
    lines = document.lines
    first = _seam(lines, max(place.start.row - NEAR_ROWS, 0), place.start.row)
    end = _seam(lines, place.end.row + NEAR_ROWS, place.end.row + 2 * NEAR_ROWS)
    return _found(document, first, lines[first:end], place.start)


def holes_of(document: Document) -> tuple[tuple[Hole, ...], int]:
    """The holes of a document, in their order, and up to which row it was looked for them.

    A long document is looked at in pieces, and to a bound.
    """
    holes: list[Hole] = []
    first, lines = 0, document.lines
    for _ in range(MOST_PIECES):
        end = _end_of_piece(lines, first)
        holes += _found(document, first, lines[first:end], Point(first, 0))
        first = end
        if end == len(lines):
            break
    return tuple(holes), first


def _end_of_piece(lines: Sequence[str], first: int) -> int:
    """The row after the last that fits, at least one; at a seam, if there is one."""
    row, size = first, 0
    while row < len(lines) and (row == first or size + len(lines[row]) <= PIECE_CHARACTERS):
        size += len(lines[row])
        row += 1
    return row if row == len(lines) else next((each for each in range(row, first, -1) if _is_seam(lines, each)), row)


def _seam(lines: Sequence[str], row: int, until: int) -> int:
    """The first row from there on where a text can be cut; that row itself if there is none before `until`."""
    return next((each for each in range(row, min(until, len(lines))) if _is_seam(lines, each)), row)


def _is_seam(lines: Sequence[str], row: int) -> bool:
    """Whether something begins at a row that is in nothing else: what is cut there still parses."""
    line = lines[row]
    return row == 0 or (bool(line.strip()) and line[0] not in " \t)]}" and not lines[row - 1].strip())


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
