"""The docstring of the function or class at a position: its quotes are given, what is in them is the hole."""

from __future__ import annotations

import re
from collections.abc import Sequence

from midfill_engine.api import Mode
from midfill_server.documents import Document
from midfill_server.ondemand.functions import Function, body_indent, documented_at, indent_of
from midfill_server.ondemand.place import Place, text_in
from midfill_server.ondemand.task import Hole, NothingToDo, Task
from midfill_server.positions import Point, without_eol

DOCSTRING = "Complete the docstring"
OPENING = re.compile(r"""[ \t]*[rRuU]?(?P<quotes>\"{3}|'{3})""")
QUOTES = '"""'
SENTENCE_ENDS = (".", "!", "?")
SLASHES = {"rust": "/// ", "go": "// "}


def docstring_task(document: Document, place: Place | None, instruction: str) -> Task:
    """The task of writing a docstring, or the rest of one."""
    if place is None:
        raise NothingToDo("a position is needed")
    function = documented_at(document.lines, place.start.row, document.language)
    if function is None:
        raise NothingToDo(
            "there is no function here" if document.language != "python" else "there is no function or class here"
        )
    if document.language == "python":
        hole, mode = _python(document.lines, function)
    else:
        hole, mode = _comment_above(document.lines, function, document.language), Mode.LINE
    return Task(title=DOCSTRING, holes=(hole,), mode=mode, instruction=instruction, is_strict=True)


def _python(lines: Sequence[str], function: Function) -> tuple[Hole, Mode]:
    header = without_eol(lines[function.header_end])
    if function.end == function.header_end and not re.search(r":\s*(?:#.*)?$", header):
        raise NothingToDo("the body stands on the line of its def")
    first = _first_row(lines, function)
    opening = OPENING.match(lines[first]) if first is not None else None
    if first is None or opening is None:
        at = Point(function.header_end, len(header))
        lead = "\n" + body_indent(lines, function) + QUOTES
        return Hole(place=Place(at, at), lead=lead, tail=QUOTES), Mode.LINE
    return _rest_of(lines, Point(first, opening.end()), opening["quotes"])


def _first_row(lines: Sequence[str], function: Function) -> int | None:
    rows = range(function.header_end + 1, function.end + 1)
    return next((row for row in rows if lines[row].strip()), None)


def _rest_of(lines: Sequence[str], start: Point, quotes: str) -> tuple[Hole, Mode]:
    """The hole in a docstring that is there: all of an empty one, else its end. A summary that is a whole sentence
    is left as it is: what there is to add stands below it."""
    closing = _closing(lines, start, quotes)
    if closing is None:  # the user has only begun it
        end = Point(start.row, len(without_eol(lines[start.row]).rstrip()))
        at = Place(max(start, end), Point(start.row, len(without_eol(lines[start.row]))))
        return Hole(place=at, tail=quotes), Mode.LINE
    text = text_in(lines, Place(start, closing))
    if not text.strip():
        return Hole(place=Place(start, closing)), Mode.LINE
    end = closing
    while not lines[end.row][: end.column].strip():  # the quotes stand on a line of their own
        end = Point(end.row - 1, len(without_eol(lines[end.row - 1])))
    end = max(start, end._replace(column=len(lines[end.row][: end.column].rstrip())))
    if end.row == start.row == closing.row and text.rstrip().endswith(SENTENCE_ENDS):
        indent = indent_of(lines[start.row])
        return Hole(place=Place(end, closing), lead="\n\n" + indent, tail="\n" + indent), Mode.BLOCK
    return Hole(place=Place(end, end)), Mode.BLOCK if end.row < closing.row else Mode.LINE


def _closing(lines: Sequence[str], start: Point, quotes: str) -> Point | None:
    """Where it is closed. If the quotes after it come in pairs they belong to others, and it is not closed yet."""
    tail = [lines[start.row][start.column :], *lines[start.row + 1 :]]
    if sum(line.count(quotes) for line in tail) % 2 == 0:
        return None
    row = next(row for row, line in enumerate(tail) if quotes in line)
    return Point(start.row + row, tail[row].index(quotes) + (0 if row else start.column))


def _comment_above(lines: Sequence[str], function: Function, language: str) -> Hole:
    above = lines[function.top - 1].strip() if function.top else ""
    if above.startswith(("//", "*/", "/*")) or above.endswith("*/"):
        raise NothingToDo("there is a comment already")
    at = Point(function.top, len(function.indent))
    opening = SLASHES.get(language, "/** ")
    closing = "" if language in SLASHES else " */"
    name = f"{function.name} " if language == "go" else ""
    return Hole(place=Place(at, at), lead=opening + name, tail=f"{closing}\n{function.indent}")
