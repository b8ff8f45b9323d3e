"""Columns in three encodings against counting character by character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_server.positions import Encoding, Point, column_of, locate, units_of

WIDTHS = {
    Encoding.UTF8: lambda c: 1 if c < "\x80" else 2 if c < "\u0800" else 3 if c < "\U00010000" else 4,
    Encoding.UTF16: lambda c: 1 if c < "\U00010000" else 2,
    Encoding.UTF32: lambda c: 1,
}
BODIES = st.text(st.sampled_from("ab é\u0301中\u2028\x0c\x85😀🇩\ud800\udc00"), max_size=12)
ENCODINGS = st.sampled_from(list(Encoding))


def counted(body: str, units: int, encoding: Encoding) -> int:
    """The column by walking along the line."""
    walked = 0
    for column, character in enumerate(body):
        walked += WIDTHS[encoding](character)
        if walked > units:
            return column
    return len(body)


@given(BODIES, st.integers(-2, 60), ENCODINGS)
def test_a_column_is_what_counting_gives(body: str, units: int, encoding: Encoding) -> None:
    assert column_of(body, units, encoding) == counted(body, units, encoding)


@given(BODIES, st.integers(0, 12), ENCODINGS)
def test_there_and_back_is_the_same_column(body: str, column: int, encoding: Encoding) -> None:
    column = min(column, len(body))
    assert column_of(body, units_of(body, column, encoding), encoding) == column


@pytest.mark.parametrize(
    ("line", "character", "expected"),
    [
        (0, 0, Point(0, 0)),
        (0, 99, Point(0, 2)),
        (1, 1, Point(1, 1)),
        (1, 2, Point(1, 1)),
        (2, 0, Point(2, 0)),
        (2, 9, Point(2, 3)),
        (3, 0, Point(2, 3)),
        (-1, 5, Point(0, 0)),
        (10**12, 10**12, Point(2, 3)),
    ],
)
def test_positions_past_an_end_are_that_end(line: int, character: int, expected: Point) -> None:
    """pygls gave one character too few past the end of a last line without a line end ("abc", 0:9 was offset 2)."""
    assert locate(["ab\r\n", "c\r", "def"], line, character, Encoding.UTF16) == expected


def test_the_empty_document_has_one_place() -> None:
    assert locate([""], 0, 0, Encoding.UTF8) == Point(0, 0)
    assert locate([""], 4, 4, Encoding.UTF8) == Point(0, 0)
