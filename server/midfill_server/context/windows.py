"""A document in overlapping windows of lines, each with the names in it and those that it defines.

Never more than a document's first lines are cut up: what that costs does not depend on how large the files are that
happen to be open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

WINDOW_LINES = 40
STRIDE = 20
MOST_LINES = 2_000
LONGEST_LINE = 400

_NAME = re.compile(r"[^\W\d]\w{2,}")
_DEFINITION = re.compile(
    r"^[ \t]*(?:\w+ )*?(?:def|class|fn|func|function|struct|enum|trait|interface|type|module) +([^\W\d]\w*)"
)
_COMMON = re.compile(
    r"(?:and|any|bool|break|case|class|const|continue|def|default|elif|else|enum|except|export|false|final|finally|float|"
    r"for|from|func|function|import|int|interface|let|list|new|none|not|null|pass|private|public|raise|return|self|"
    r"static|str|string|struct|switch|this|throw|true|try|type|use|val|var|void|while|with|yield)\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Window:
    """Lines from `row` on, the names in them, and the row of each name that is defined there."""

    row: int
    names: frozenset[str]
    defined: dict[str, int]


def names_in(lines: Sequence[str]) -> frozenset[str]:
    """The names in some lines, without the words that any text has."""
    found = {name for line in lines for name in _NAME.findall(line[:LONGEST_LINE])}
    return frozenset(name for name in found if not _COMMON.match(name))


def windows_of(lines: Sequence[str]) -> tuple[Window, ...]:
    """A document's first lines in windows."""
    lines = lines[:MOST_LINES]
    last = max(1, len(lines) - (WINDOW_LINES - STRIDE))
    strides = [_window(lines[row : row + STRIDE], row) for row in range(0, len(lines), STRIDE)]
    return tuple(_joined(strides[at : at + WINDOW_LINES // STRIDE]) for at in range(len(range(0, last, STRIDE))))


def _window(part: Sequence[str], row: int) -> Window:
    found = ((match[1], row + index) for index, line in enumerate(part) if (match := _DEFINITION.match(line[:200])))
    return Window(row=row, names=names_in(part), defined=dict(found))


def _joined(parts: Sequence[Window]) -> Window:
    """Windows overlap: no line is read twice."""
    defined = {name: row for part in parts for name, row in part.defined.items()}
    row = parts[0].row if parts else 0
    return Window(row=row, names=frozenset[str]().union(*(part.names for part in parts)), defined=defined)
