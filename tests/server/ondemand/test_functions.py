"""The function around a line, by its first line and by indentation."""

from __future__ import annotations

import pytest

from midfill_server.documents import split_lines
from midfill_server.ondemand.functions import body_indent, function_at, text_of

PYTHON = """\
import os

@cache
@other(1)
def first(a,
          b: dict[str, int] = {},
          c="):",  # a ):
          ):
    x = 1

    def inner():
        return 2
    return inner

class Box:
    async def open(self):
        return 1

after = 1
def broken(
"""


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (0, None),
        (2, ("first", "", 2, 12)),
        (3, ("first", "", 2, 12)),
        (6, ("first", "", 2, 12)),
        (9, ("first", "", 2, 12)),
        (11, ("inner", "", 10, 11)),
        (12, ("first", "", 2, 12)),
        (13, None),
        (14, None),
        (16, ("open", "Box", 15, 16)),
        (18, None),
        (19, ("broken", "", 19, 19)),
    ],
)
def test_python(row: int, expected: tuple[str, str, int, int] | None) -> None:
    function = function_at(split_lines(PYTHON), row, "python")
    assert (function and (function.name, function.owner, function.top, function.end)) == expected


def test_the_signature_ends_where_its_brackets_are_closed() -> None:
    lines = split_lines(PYTHON)
    function = function_at(lines, 5, "python")
    assert function is not None
    assert (function.header, function.header_end, body_indent(lines, function)) == (4, 7, "    ")
    assert text_of(lines, function).startswith("@cache\n@other(1)\ndef first(a,\n")
    assert text_of(lines, function).endswith("    return inner")


@pytest.mark.parametrize(
    ("language", "text", "name"),
    [
        ("rust", "pub(crate) async fn area(r: f64) -> f64 {\n    r\n}\n", "area"),
        ("go", "func (c *Circle) Area() float64 {\n\treturn 1\n}\n", "Area"),
        ("javascript", "export default async function area(r) {\n  return r;\n}\n", "area"),
        ("typescript", "const area = (r: number): number => {\n  return r;\n};\n", "area"),
        ("typescriptreact", "  const Area = async function () {\n    return 1;\n  };\n", "Area"),
    ],
)
def test_other_languages(language: str, text: str, name: str) -> None:
    for row in range(3):
        function = function_at(split_lines(text + "\nlast\n"), row, language)
        assert function is not None
        assert (function.name, function.end) == (name, 2)
    assert function_at(split_lines(text + "\nlast\n"), 4, language) is None


def test_unknown_languages_and_a_long_way_up() -> None:
    assert function_at(["def f():\n", "    x"], 1, "cobol") is None
    assert function_at(["def f():\n", *["    x\n"] * 5_000], 4_000, "python") is None
