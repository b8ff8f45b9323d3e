"""Where a position, a range or a marker puts the hole."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_server.commands.errors import UsageError
from midfill_server.commands.hole import Hole, Position, hole_at, hole_at_marker, offset_of, parse_position


def check(text: str, told: str, prefix: str) -> None:
    hole = hole_at(text, parse_position(told))
    assert (hole.prefix, hole.prefix + hole.suffix) == (prefix, text)


def test_a_position_is_a_line_and_a_column_from_one() -> None:
    check("", "1:1", "")
    check("ab\ncd", "1:1", "")
    check("ab\ncd", "1:3", "ab")
    check("ab\ncd", "2:2", "ab\nc")
    check("ab\ncd", "2:3", "ab\ncd")
    check("ab\n", "2:1", "ab\n")
    check("\n\n", "2:1", "\n")


def test_a_column_counts_characters() -> None:
    check("é😀x", "1:3", "é😀")


def test_only_the_three_line_ends_end_a_line() -> None:
    check("a\r\nb\rc\nd", "4:1", "a\r\nb\rc\n")
    check("a\x0b\x0c\x1c\u0085\u2028b\nc", "2:1", "a\x0b\x0c\x1c\u0085\u2028b\n")
    check("a\r\nb", "1:2", "a")


def check_refused(text: str, told: str, *words: str) -> None:
    with pytest.raises(UsageError) as caught:
        hole_at(text, parse_position(told))
    for word in words:
        assert word in str(caught.value)


def test_a_position_outside_the_text_is_refused_with_what_would_be_inside() -> None:
    check_refused("ab\ncd", "0:1", "lines 1 to 2")
    check_refused("ab\ncd", "3:1", "lines 1 to 2")
    check_refused("ab\ncd", "1:0", "columns 1 to 3")
    check_refused("ab\ncd", "1:4", "columns 1 to 3")
    check_refused("ab\r\ncd", "1:4", "columns 1 to 3")
    check_refused("", "1:2", "columns 1 to 1")


@pytest.mark.parametrize("told", ["", "12", "1:", ":1", "-1:1", "1:1:1", "a:b", "1.5:2", " 1:1", "١:١", "9999999999:1"])
def test_what_is_no_position_is_refused(told: str) -> None:
    with pytest.raises(UsageError, match="LINE:COL"):
        parse_position(told)


def test_a_range_takes_what_stands_in_it_out() -> None:
    hole = hole_at("one two three", Position(line=1, column=5), Position(line=1, column=8))
    assert hole == Hole(prefix="one ", selection="two", suffix=" three")
    assert hole.filled("2") == "one 2 three"


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(UsageError, match="before"):
        hole_at("one two", Position(line=1, column=5), Position(line=1, column=4))


def test_a_marker_goes_and_leaves_the_hole() -> None:
    assert hole_at_marker("a<HERE>b", "<HERE>") == Hole(prefix="a", suffix="b")


@pytest.mark.parametrize(
    ("text", "marker", "word"), [("ab", "?", "not in"), ("a?b?", "?", "2 times"), ("ab", "", "empty")]
)
def test_a_marker_that_is_not_there_just_once_is_refused(text: str, marker: str, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        hole_at_marker(text, marker)


def test_markers_that_overlap_are_two() -> None:
    with pytest.raises(UsageError, match="2 times"):
        hole_at_marker("aaa", "aa")


@given(st.text(alphabet="a\n\r\u2028é😀"), st.data())
def test_every_offset_outside_a_line_end_has_one_position(text: str, data: st.DataObject) -> None:
    """Against a slow walk over the text that counts as it goes."""
    offset = data.draw(st.integers(0, len(text)))
    if text[max(0, offset - 1) : offset + 1] == "\r\n":
        return
    ends = [match.end() for match in re.finditer(r"\r\n|\r|\n", text) if match.end() <= offset]
    position = Position(line=len(ends) + 1, column=offset - (ends[-1] if ends else 0) + 1)
    assert offset_of(text, position) == offset
