"""What is offered of what a model said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_engine.api import Mode
from midfill_engine.readout import read_out


def check(text: str, prefix: str, suffix: str, expected: str, mode: Mode = Mode.BLOCK) -> None:
    assert read_out(text, mode, prefix, suffix) == expected
    if mode is Mode.LINE:
        assert read_out(f"{text}\nmore()", mode, prefix, suffix) == expected


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "expected"),
    [
        ("1 + 2", "x = ", "\n", "1 + 2"),
        ("1 + 2  ", "x = ", "  \n", "1 + 2"),
        (", bar)", "print(foo", ")\n", ", bar"),
        (")", "(", ")", ""),
        ("return total", "    ", "\n    return total\n", ""),
        ("", "x = ", "", ""),
        (" ", "x =", "", ""),
        ("\t", "x =", "\n", ""),
        ("bar)", "foo(", "bar)", ""),
        ("a, ", "foo(", " b)", "a,"),
        ("a, ", "foo(", "b)", "a, "),
        ("a\rb", "x = ", "", "a"),
        ("a\u2028b", "x = ", "", "a"),
        ("😀é日", "s = '", "'", "😀é日"),
    ],
)
def test_a_line(text: str, prefix: str, suffix: str, expected: str) -> None:
    check(text, prefix, suffix, expected, Mode.LINE)


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "expected"),
    [
        ("total += x\n    return total\n", "    for x in xs:\n        ", "\n    return total\n", "total += x"),
        ("    y = 1\n    return x\n", "def f():\n", "    return x\n", "    y = 1\n"),
        ("\n    pass\n\n", "def f():", "\n", "\n    pass"),
        ("a()\r\n    b()\r\n", "if x:\r\n    ", "\r\n", "a()\n    b()"),
        ("a()\r    b()", "if x:\r    ", "\r", "a()\n    b()"),
        ("    return x\n\nz", "def f():\n", "    return x\n\nz\n", ""),
        ("a()\n    if x:\n        b()", "def f():\n\ta()\n\n\t", "\n\tc()\n", "a()\n\tif x:\n\t\tb()"),
        ("import os\nimport sys", "import re\nimport os\n", "\n", "import sys"),
    ],
)
def test_a_block(text: str, prefix: str, suffix: str, expected: str) -> None:
    check(text, prefix, suffix, expected)


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "expected"),
    [
        ("a\n", "foo(", ", b)", "a"),
        ("a\n", "foo(", ")", "a"),
        ("a\n\n", "x = ", "\n", "a"),
        ("a,\n", "foo(\n    ", ")", "a,\n"),
        ("1\n", "a = ", "b = 2\n", "1\n"),
        ("\n    a,\n    b,\n", "foo(", ")", "\n    a,\n    b,\n"),
    ],
)
def test_a_line_end_at_the_end(text: str, prefix: str, suffix: str, expected: str) -> None:
    """The cursor landed on a line of its own because the text ended with a line end (row 13); where a line follows
    that needs one it stays."""
    check(text, prefix, suffix, expected)


@pytest.mark.parametrize("char", ["\0", "\x1b", "\x07", "\x7f", "\x85", "\u2028", "\u202e", "\u2066", "\f", "\v"])
def test_what_nobody_types_is_not_offered(char: str) -> None:
    """A terminal escape, a line end that only some editors know, a mark that makes code read other than it runs."""
    check(f"ab{char}cd", "x = ", "", "ab", Mode.LINE)
    check(f"{char}cd", "x = ", "", "")


def test_nothing_goes_into_a_line_end() -> None:
    """Between CR and LF there is no place: any text makes two line ends of one (row 6)."""
    check("b", "a = 1\r", "\nc", "")
    check("b", "a = 1", "\r\nc", "b")


PIECES = st.text(st.sampled_from("ab_ x=()[]{}\"'#:,.\n\r\t\0é😀\u2028"), max_size=40)


@given(text=PIECES, prefix=PIECES, suffix=PIECES, mode=st.sampled_from([Mode.LINE, Mode.BLOCK]))
def test_whatever_is_said_the_offer_is_clean(text: str, prefix: str, suffix: str, mode: Mode) -> None:
    offer = read_out(text, mode, prefix, suffix)
    assert not set(offer) & set("\r\0\u2028")
    assert offer == "" or offer.strip()
    assert mode is Mode.BLOCK or "\n" not in offer
    after = suffix.replace("\r\n", "\n").replace("\r", "\n")
    is_all_there = bool(offer) and (after + "\n").startswith(offer + "\n")
    assert not is_all_there or set(offer) & set(")]}\"'"), "offers the very lines that follow"
    letters = [char for char in offer if not char.isspace()]
    said = iter(text)
    assert all(char in said for char in letters), "adds something that was not said"
