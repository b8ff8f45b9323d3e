"""A column of a table as a task: every cell of it that is empty is a hole, and all of them are filled together.

It is meant where the cursor stands in an empty cell of a row, or in the head of a column that has empty cells below it.
Rows that do not reach as far yet get the cell, and so does the delimiter row, where the first row below it gets one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from midfill_engine.api import Mode
from midfill_server.documents import Document
from midfill_server.ondemand.place import Place
from midfill_server.ondemand.task import Hole, Task
from midfill_server.positions import Point, without_eol
from midfill_server.postprocess.tables import DELIMITER, is_row, num_cells_of, pipes_of

FILL_COLUMN = "Fill this column"
MOST_ROWS = 200


def column_task(document: Document, place: Place, instruction: str = "") -> Task | None:
    """The column at a place; None where none is meant."""
    row, column = place.start
    if not place.is_empty or not is_row(without_eol(document.lines[row])):
        return None
    head, rows = _table(document.lines, row)
    cell = sum(pipe < column for pipe in pipes_of(without_eol(document.lines[row]))) - 1
    if head is None or cell < 0 or row == head + 1 or (row > head and not _is_empty(document, row, cell)):
        return None
    holes = [hole for each in rows if (hole := _hole(document, each, cell)) is not None]
    if len(holes) < (1 if row == head else 2) or (row == head and _is_empty(document, row, cell)):
        return None
    holes[0] = _with_delimiter(document, head + 1, cell, holes[0])
    return Task(title=FILL_COLUMN, holes=tuple(holes), mode=Mode.LINE, instruction=instruction)


def _table(lines: Sequence[str], row: int) -> tuple[int | None, range]:
    """The row of the head, and those below the delimiter row; no head where there is no table."""

    def is_part(at: int) -> bool:
        return is_row(without_eol(lines[at]))

    top = min(takewhile(is_part, range(row, max(row - MOST_ROWS, 0) - 1, -1)))
    end = max(takewhile(is_part, range(row, min(row + MOST_ROWS, len(lines))))) + 1
    if top + 1 >= end or not DELIMITER.match(without_eol(lines[top + 1])):
        return None, range(0)
    return top, range(top + 2, end)


def _is_empty(document: Document, row: int, cell: int) -> bool:
    return _hole(document, row, cell) is not None


def _hole(document: Document, row: int, cell: int) -> Hole | None:
    """The cell of a row if it is empty, or what the row lacks to have it; None where the row lacks more."""
    line = without_eol(document.lines[row]).rstrip()
    pipes = pipes_of(line)
    if cell + 1 < len(pipes):
        start, end = pipes[cell] + 1, pipes[cell + 1]
        return None if line[start:end].strip() else _blank(row, start, end)
    if num_cells_of(line) != cell or not pipes:
        return None
    at = Point(row, len(line))
    return Hole(place=Place(at, at), lead=" " if line.endswith("|") else " | ", tail=" |")


def _blank(row: int, start: int, end: int) -> Hole:
    """A blank cell: of its space one is kept before what is put in, and one behind it."""
    at = Point(row, min(start + 1, end))
    return Hole(place=Place(at, at), lead="" if start < end else " ", tail="" if end - start > 1 else " ")


def _with_delimiter(document: Document, row: int, cell: int, first: Hole) -> Hole:
    """The first hole with the cell that the delimiter row lacks, if the hole stands right below it."""
    line = without_eol(document.lines[row]).rstrip()
    if num_cells_of(line) != cell or first.place.start.row != row + 1:
        return first
    plain = line.split("|")[-2].replace(":", "-")
    below = without_eol(document.lines[row + 1])[: first.place.start.column]
    start = Point(row, len(line))
    return Hole(place=Place(start, first.place.end), lead=f"{plain}|\n{below}{first.lead}", tail=first.tail)
