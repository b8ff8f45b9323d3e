"""A test for the function at a position: its first lines are given, its body is the hole.

It is put at the end of the same document. Where a project keeps its tests cannot be seen from an open document, and a
file that is not open is never touched; at the end it disturbs nothing, stands below everything it may use, and is moved
in one piece to where it belongs. (In Rust that is where it belongs.) The function itself is read by the model right
before the test where it stands too far above to be seen.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from midfill_engine.api import Mode
from midfill_server.documents import Document, end_of
from midfill_server.ondemand.functions import Function, function_at, text_of
from midfill_server.ondemand.place import Place
from midfill_server.ondemand.task import Hole, NothingToDo, Task
from midfill_server.positions import Point, without_eol

WRITE_TEST = "Write a test for this function"
SEEN_CHARACTERS = 1_000
"""What is no further above than that is surely read by any model."""

MOST_CHARACTERS = 4_000
TESTS_IN_RUST = re.compile(r"mod tests? \{\s*$")
CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def write_test_task(document: Document, place: Place | None, instruction: str) -> Task:
    """The task of writing a test."""
    if place is None:
        raise NothingToDo("a position is needed")
    begin = BEGINNINGS.get(document.language)
    if begin is None:
        raise NothingToDo(f"how a test begins in {document.language or 'this language'} is not known")
    function = function_at(document.lines, place.start.row, document.language)
    if function is None:
        raise NothingToDo("there is no function here")
    hole = replace(begin(function, document), hint=_hint(document.lines, function))
    return Task(title=WRITE_TEST, holes=(hole,), mode=Mode.BLOCK, instruction=instruction, is_strict=True)


def _at_end(document: Document, lead: str, tail: str, num_blank: int = 1) -> Hole:
    """At the end of the document, below that many blank lines."""
    end = end_of(document.lines)
    return Hole(place=Place(end, end), lead=_line_ends(document.lines, num_blank + 1) + lead, tail=tail)


def _line_ends(lines: Sequence[str], num_wanted: int) -> str:
    """As many as are missing after what stands there."""
    num_blank = 0
    for line in reversed(lines):
        if line.strip():
            break
        num_blank += 1
    return "\n" * max(0, num_wanted - num_blank) if num_blank < len(lines) else ""


def _hint(lines: Sequence[str], function: Function) -> str:
    num_below = 0
    for line in reversed(lines[function.end + 1 :]):
        num_below += len(line)
        if num_below > SEEN_CHARACTERS:
            return "\n\n\n" + textwrap.dedent(text_of(lines, function))[:MOST_CHARACTERS] + "\n"
    return ""


def _python(function: Function, document: Document) -> Hole:
    owner = CAPITAL.sub("_", function.owner).lower()
    wanted = "_".join(part for part in ("test", owner, function.name.strip("_")) if part)
    keyword = "async def" if function.is_async else "def"
    return _at_end(document, f"{keyword} {_free(wanted, document)}():\n    ", "\n", num_blank=2)


def _script(function: Function, document: Document) -> Hole:
    keyword = "async " if function.is_async else ""
    return _at_end(document, f'test("{function.name}", {keyword}() => {{\n  ', "\n});\n")


def _go(function: Function, document: Document) -> Hole:
    name = _free("Test" + function.name[:1].upper() + function.name[1:], document)
    return _at_end(document, f"func {name}(t *testing.T) {{\n\t", "\n}\n")


def _rust(function: Function, document: Document) -> Hole:
    """In the module of tests; if there is none, with one around it."""
    inner = f"#[test]\n    fn {_free(f'test_{function.name}', document)}() {{\n        "
    row = _last_of_module(document.lines)
    if row is not None:
        end = Point(row, len(without_eol(document.lines[row])))
        return Hole(place=Place(end, end), lead=f"\n\n    {inner}", tail="\n    }")
    opened = f"#[cfg(test)]\nmod {_free('tests', document)} {{\n    use super::*;\n\n    "
    return _at_end(document, opened + inner, "\n    }\n}\n")


def _last_of_module(lines: Sequence[str]) -> int | None:
    """The last row with something in it of the module of tests, if there is one."""
    header = next((row for row, line in enumerate(lines) if TESTS_IN_RUST.match(line)), None)
    if header is None:
        return None
    closer = next((row for row in range(header + 1, len(lines)) if lines[row].startswith("}")), None)
    return None if closer is None else next(row for row in range(closer - 1, header - 1, -1) if lines[row].strip())


def _free(name: str, document: Document) -> str:
    """The name, or the name with the first number that no word of the document is."""
    words = set(re.findall(r"\w+", document.text)) if any(name in line for line in document.lines) else set()
    number = 2
    found = name
    while found in words:
        found, number = f"{name}_{number}", number + 1
    return found


BEGINNINGS: Mapping[str, Callable[[Function, Document], Hole]] = {
    "python": _python,
    "go": _go,
    "rust": _rust,
    "javascript": _script,
    "javascriptreact": _script,
    "typescript": _script,
    "typescriptreact": _script,
}
