"""What can be asked for at a place. Looks at the text only, and at no more of it than it must."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from midfill_server.capabilities import DOCSTRING, FILL, FILL_HOLE, FILL_HOLES, NEXT_DRAFT, REWRITE, WRITE_TEST
from midfill_server.documents import Document
from midfill_server.ondemand import docstring, holes, selecting, testing
from midfill_server.ondemand.columns import column_task
from midfill_server.ondemand.functions import DOCUMENTED, HEADERS, documented_at, function_at
from midfill_server.ondemand.place import Place, text_in
from midfill_server.positions import Point, without_eol

ANOTHER_DRAFT = "Another draft"
HOLES_IN_FUNCTION = "Fill all holes in this function"
HOLES_IN_FILE = "Fill all holes in this file"
MAY_BE_HOLE = re.compile(
    r"\bpass\b|\.\.\.|TODO|FIXME|[Nn]ot_?[Ii]mplemented|todo!|unimplemented!|\?\?\?|▮|<\|?(?i:fill)\|?>"
)
REFACTOR = "refactor"
REFACTOR_REWRITE = "refactor.rewrite"


@dataclass(frozen=True)
class Item:
    """An entry of the menu and its command. `is_immediate`: what it does is not known before it is done.

    `place`: what it is about, if not the place that was asked about. `is_whole`: it is about all of the document.
    """

    title: str
    command: str
    kind: str = REFACTOR_REWRITE
    is_immediate: bool = False
    place: Place | None = None
    is_whole: bool = False


def menu(document: Document, place: Place, *, is_invoked: bool, has_draft: bool) -> Iterator[Item]:
    """The entries. Unless somebody has asked for the menu, only what belongs to this very line is in it.

    `has_draft`: something was filled here of which another draft can be made.
    """
    yield from _about_place(document, place)
    if has_draft:
        yield Item(ANOTHER_DRAFT, NEXT_DRAFT, is_immediate=True)
    if is_invoked or MAY_BE_HOLE.search(document.lines[place.start.row]):
        yield from _about_holes(document, place)
    yield from _about_function(document, place, is_invoked)


def _about_place(document: Document, place: Place) -> Iterator[Item]:
    if text_in(document.lines, place).strip():
        yield Item(selecting.REWRITE, REWRITE)
    elif (column := column_task(document, place)) is not None:
        yield Item(column.title, FILL)
    elif not without_eol(document.lines[place.end.row])[place.end.column :].strip():
        yield Item(selecting.FILL, FILL)


def _about_holes(document: Document, place: Place) -> Iterator[Item]:
    found = holes.holes_near(document, place)
    here = holes.hole_at(found, place)
    if here is not None and not (place.is_empty and here.place.is_empty):  # that is "Fill here"
        yield Item(holes.FILL_HOLE, FILL_HOLE, place=here.place)
    function = function_at(document.lines, place.start.row, document.language)
    if function is not None:
        end = Point(function.end, len(without_eol(document.lines[function.end])))
        inside = Place(Point(function.top, 0), end)
        if len(holes.within(found, inside)) > 1:
            yield Item(HOLES_IN_FUNCTION, FILL_HOLES, place=inside)
    if len(found) > (here is not None):
        yield Item(HOLES_IN_FILE, FILL_HOLES, is_whole=True)


def _about_function(document: Document, place: Place, is_invoked: bool) -> Iterator[Item]:
    row, language = place.start.row, document.language
    pattern = DOCUMENTED if language == "python" else HEADERS.get(language)
    if pattern is None or not (is_invoked or pattern.match(document.lines[row])):
        return
    if language in testing.BEGINNINGS and function_at(document.lines, row, language) is not None:
        yield Item(testing.WRITE_TEST, WRITE_TEST, REFACTOR)
    if documented_at(document.lines, row, language) is not None:
        yield Item(docstring.DOCSTRING, DOCSTRING)
