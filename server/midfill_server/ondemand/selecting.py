"""Fill here, and rewrite what is selected."""

from __future__ import annotations

from midfill_engine.api import Mode
from midfill_server.documents import Document
from midfill_server.ondemand.columns import column_task
from midfill_server.ondemand.instruction import split_instruction
from midfill_server.ondemand.place import Place, text_in, trimmed
from midfill_server.ondemand.task import Hole, NothingToDo, Task
from midfill_server.positions import without_eol

REWRITE = "Rewrite with midfill"
FILL = "Fill here"


def fill_task(document: Document, place: Place | None, instruction: str) -> Task:
    """Fill at a position, in place of a range, or a column of a table. The user said where: nothing is confirmed."""
    if place is None:
        raise NothingToDo("a position or a range is needed")
    column = column_task(document, place, instruction)
    return column or _task(document, place, instruction, title=FILL, needs_confirmation=False)


def rewrite_task(document: Document, place: Place | None, instruction: str) -> Task:
    """Put something else in place of a selection; the user looks at it before it is put in."""
    if place is None or place.is_empty:
        raise NothingToDo("nothing is selected")
    return _task(document, place, instruction, title=REWRITE, needs_confirmation=True)


def _task(document: Document, place: Place, instruction: str, *, title: str, needs_confirmation: bool) -> Task:
    hole = trimmed(document.lines, place)
    said, selection = split_instruction(text_in(document.lines, hole))
    return Task(
        title=title,
        holes=(Hole(place=hole),),
        mode=mode_of(document, hole),
        selection=selection,
        instruction=instruction or said,
        needs_confirmation=needs_confirmation,
    )


def mode_of(document: Document, place: Place) -> Mode:
    """In place of several lines come lines; what stood inside a line stays inside it; else the text decides."""
    if place.start.row != place.end.row:
        return Mode.BLOCK
    rest = without_eol(document.lines[place.end.row])[place.end.column :]
    return Mode.LINE if rest.strip() else Mode.AUTO
