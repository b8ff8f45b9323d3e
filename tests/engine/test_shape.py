"""Lines around a hole, its mode, and how its middle is indented."""

from __future__ import annotations

import pytest

from midfill_engine.api import Mode
from midfill_engine.indent import fit_indent, unit_of
from midfill_engine.shape import line_after, line_before, lines_after, resolve_mode, splits_line_end


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("", ""),
        ("a", "a"),
        ("a\nb", "b"),
        ("a\r\nb", "b"),
        ("a\rb", "b"),
        ("a\n", ""),
        ("a\fb\u2028c\u0085d\x0be", "a\fb\u2028c\u0085d\x0be"),
        ("\n" + "x" * 10_000, "x" * 4096),
    ],
)
def test_the_line_before(prefix: str, expected: str) -> None:
    """Lines end at the three line ends of LSP; form feeds and their like desynced another server (row 8)."""
    assert line_before(prefix) == expected


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [
        ("", ""),
        ("a", "a"),
        ("a\nb", "a"),
        ("a\r\nb", "a"),
        ("a\rb", "a"),
        ("\na", ""),
        ("a\x1cb\u2029c\n", "a\x1cb\u2029c"),
    ],
)
def test_the_line_after(suffix: str, expected: str) -> None:
    assert line_after(suffix) == expected


def test_a_huge_text_is_not_split() -> None:
    assert sum(map(len, lines_after("ab\n" * 1_000_000))) < 5000


@pytest.mark.parametrize(
    ("prefix", "suffix", "expected"),
    [("a\r", "\nb", True), ("a\r", "", False), ("a\r", "b", False), ("a", "\r\nb", False), ("a\r\n", "\nb", False)],
)
def test_a_hole_inside_a_line_end(prefix: str, suffix: str, expected: bool) -> None:
    assert splits_line_end(prefix, suffix) is expected


@pytest.mark.parametrize(
    ("prefix", "suffix", "expected"),
    [
        ("", "", Mode.BLOCK),
        ("x = ", "", Mode.LINE),
        ("x = ", "\n", Mode.LINE),
        ("def f():", "\n", Mode.BLOCK),
        ("def f():  ", "  \n", Mode.BLOCK),
        ("def f():\n    ", "\n", Mode.BLOCK),
        ("def f():\r\n    ", "\r\n", Mode.BLOCK),
        ("foo(", ")", Mode.LINE),
        ("foo(", "\n", Mode.BLOCK),
        ("x => ", "", Mode.BLOCK),
        ("if [ -f x ]; then", "\n", Mode.BLOCK),
        ("while true; do", "\n", Mode.BLOCK),
        ("x = undo", "\n", Mode.LINE),
        ("lengthen", "\n", Mode.LINE),
        ("    ", "return x", Mode.LINE),
    ],
)
def test_auto_mode(prefix: str, suffix: str, expected: Mode) -> None:
    """`undo` ends with `do` and opened a block."""
    assert resolve_mode(Mode.AUTO, prefix, suffix) is expected


@pytest.mark.parametrize("mode", [Mode.LINE, Mode.BLOCK])
def test_a_mode_that_was_asked_for_stays(mode: Mode) -> None:
    assert resolve_mode(mode, "def f():", "") is mode
    assert resolve_mode(mode, "x = ", "y") is mode


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], "    "),
        (["x"], "    "),
        (["\tx", "y"], "\t"),
        (["  x", "    y"], "  "),
        (["    x", "        y"], "    "),
        (["\tx", "    y"], "    "),
        ([" * a comment's star", "    x"], "    "),
        (["      ", "    x"], "    "),
    ],
)
def test_the_unit_of_indentation(lines: list[str], expected: str) -> None:
    assert unit_of(lines) == expected


@pytest.mark.parametrize(
    ("text", "before", "above", "expected"),
    [
        pytest.param("pass", "        ", ["    if x:"], "pass", id="right already"),
        pytest.param("    a\n        b", "    ", ["if x:"], "a\n    b", id="both are too deep"),
        pytest.param("    a:\n        b", "    ", ["if x:"], "a:\n        b", id="only the first line is too deep"),
        pytest.param("    a\n    b", "    ", ["if x:"], "a\n    b", id="first line says the whole indentation"),
        pytest.param(
            "    if a:\n            b\n        c", "    ", ["if x:"], "if a:\n        b\n    c", id="all too deep"
        ),
        pytest.param("    a", "    ", ["    if x:"], "    a", id="not deep enough yet"),
        pytest.param("    a", "", ["if x:"], "    a", id="nothing there yet"),
        pytest.param("a\n    b", "\t", ["if x:", "\tc"], "a\n\tb", id="blanks in a file of tabs"),
        pytest.param("a\n\tb", "    ", ["if x:", "    c"], "a\n    b", id="tabs in a file of blanks"),
        pytest.param("    a", "\t", ["if x:", "\tc"], "a", id="blanks behind a tab"),
        pytest.param("a\n\n    b", "    ", ["if x:", "    c"], "a\n\n    b", id="blank lines stay"),
        pytest.param("y  # a\tb", "x = ", ["\tc"], "y  # a\tb", id="blanks inside a line stay"),
    ],
)
def test_indentation_fits_the_file(text: str, before: str, above: list[str], expected: str) -> None:
    """After Enter on an indented blank line the first line came indented twice, and blanks went into a file of tabs
    (row 12)."""
    assert fit_indent(text, before, above, []) == expected
