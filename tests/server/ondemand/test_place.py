"""Places: what a selection means, and where a place is after edits elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_server.documents import Change, Document, Edit, Span, split_lines
from midfill_server.ondemand.place import Place, line_end_at, moved, place_of, text_in, trimmed
from midfill_server.positions import Encoding, Point

TEXTS = st.text(st.sampled_from("ab \t\n\r😀é"), max_size=30)


def point_at(text: str, offset: int) -> Point:
    lines = split_lines(text[:offset])
    return Point(len(lines) - 1, len(lines[-1]))


def offset_of(text: str, point: Point) -> int:
    return sum(map(len, split_lines(text)[: point.row])) + point.column


def marked(text: str) -> tuple[list[str], Place]:
    """A text whose selection is between two marks."""
    before, inside, after = text.split("|")
    whole = before + inside + after
    return split_lines(whole), Place(point_at(whole, len(before)), point_at(whole, len(before + inside)))


@pytest.mark.parametrize(
    ("selection", "hole"),
    [
        ("|    a = 1\n|", "    |a = 1|\n"),
        ("    a = |1|\n", "    a = |1|\n"),
        ("|\n\n  a\n  b  \n\n|c", "\n\n  |a\n  b|  \n\nc"),
        ("x|  |\n", "x|  |\n"),
        ("|    \n|y", "    ||\ny"),
        ("|\n\n\n|y", "|\n\n|\ny"),
        ("a|\r\n  b\r\n|c", "a\r\n  |b|\r\nc"),
        ("||", "||"),
        ("  ||  a", "  ||  a"),
    ],
)
def test_what_a_selection_means(selection: str, hole: str) -> None:
    lines, place = marked(selection)
    assert trimmed(lines, place) == marked(hole)[1]


@given(TEXTS, st.data())
def test_of_a_selection_only_blanks_at_its_edges_are_left_out(text: str, data: st.DataObject) -> None:
    """Whatever is selected: the hole lies in the selection and has all of it that is not blank."""
    lines = split_lines(text)
    ends = sorted(point_at(text, data.draw(st.integers(0, len(text)))) for _ in range(2))
    place = place_of(lines, Span(*ends[0], *ends[1]), Encoding.UTF32)
    hole = trimmed(lines, place)
    assert place.start <= hole.start <= hole.end <= place.end
    assert text_in(lines, hole).strip() == text_in(lines, place).strip()
    if text_in(lines, place).strip():
        assert text_in(lines, hole) == text_in(lines, place).strip()


@given(TEXTS, TEXTS, st.data())
def test_a_place_is_followed_through_changes_elsewhere(text: str, inserted: str, data: st.DataObject) -> None:
    """The oracle: counting. A change before or after a place leaves its text; one inside loses it."""
    cuts = sorted(data.draw(st.integers(0, len(text))) for _ in range(4))
    text, inserted = text.replace("\r", ""), inserted.replace("\r", "")
    (a, b, c, d) = (min(cut, len(text)) for cut in cuts)
    lines = split_lines(text)
    document = Document("file:///a", "", 1, text)
    is_before = data.draw(st.booleans())
    edit_from, edit_to, start, end = (a, b, c, d) if is_before else (c, d, a, b)
    first, last = point_at(text, edit_from), point_at(text, edit_to)
    place = Place(point_at(text, start), point_at(text, end))
    (change,) = document.apply([Edit(inserted, Span(*first, *last))], 2, Encoding.UTF32)
    where = moved(place, change)
    assert where is not None
    assert text_in(document.lines, where) == text_in(lines, place)
    shift = len(inserted) - (edit_to - edit_from) if edit_to <= start else 0
    assert offset_of(document.text, where.start) == start + shift


def test_a_change_inside_a_place_loses_it() -> None:
    place = Place(Point(1, 2), Point(3, 4))
    for start, end in (((1, 3), (1, 3)), ((0, 0), (1, 3)), ((3, 3), (5, 0)), ((0, 0), (9, 0))):
        assert moved(place, Change(Point(*start), Point(*end), Point(1, 3))) is None


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [("a\r\nb", 1, "\r\n"), ("a\nb", 0, "\n"), ("a", 0, "\n"), ("a\rb\r", 1, "\r"), ("a\nb\r\nc", 1, "\r\n")],
)
def test_a_filled_text_has_the_line_ends_that_stand_there(text: str, row: int, expected: str) -> None:
    assert line_end_at(split_lines(text), row) == expected
