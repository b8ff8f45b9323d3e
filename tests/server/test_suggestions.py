"""Typing into a suggestion: what is left of it is known, whatever way the text has come to agree with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_server.documents import Document
from midfill_server.positions import Encoding
from midfill_server.postprocess import Middle
from midfill_server.snapshot import Snapshot, take
from midfill_server.suggestions import Suggestion, SuggestionCache


def at(marked: str, uri: str = "file:///a.py") -> Snapshot:
    """A snapshot of a text whose cursor is `|`."""
    before, after = marked.split("|")
    document = Document(uri, "python", 1, before + after)
    row, column = before.count("\n"), len(before) - before.rfind("\n") - 1
    return take(document, row, column, Encoding.UTF32)


def cache(marked: str, *texts: str, num_absorbed: int = 0, is_full: bool = False) -> SuggestionCache:
    kept = SuggestionCache()
    middles = tuple(Middle(text, num_absorbed) for text in texts)
    kept.keep(Suggestion(at(marked), middles, is_full=is_full))
    return kept


@pytest.mark.parametrize(
    ("asked", "now", "left"),
    [
        ("foob|", "fooba|", "r"),  # row 1: one predicted letter typed
        ("foob|", "foob|", "ar"),
        ("foob|", "foobar|", None),  # all of it is there
        ("foob|", "foobx|", None),
        ("foob|", "foo|", None),
        ("foob|", "foob|\n", None),  # something else has changed
        ("foob|\ny = 1", "fooba|\ny = 1", "r"),
        ("foob|\ny = 1", "fooba|\ny = 2", None),
    ],
)
def test_what_is_left(asked: str, now: str, left: str | None) -> None:
    assert cache(asked, "ar").find(at(now)) == (() if left is None else (left,))


def test_after_a_word_or_a_line_was_accepted_the_rest_is_known() -> None:
    """Neither VS Code nor Neovim tells of a partial acceptance; both ask again with the longer text."""
    kept = cache("def f():|\n", "\n    a = 1\n    return a")
    assert kept.find(at("def f():\n    a|\n")) == (" = 1\n    return a",)
    assert kept.find(at("def f():\n    a = 1\n|\n")) == ("    return a",)


def test_an_editor_closes_a_bracket_that_was_typed() -> None:
    kept = cache("x = |\n", "foo(a, b)")
    assert kept.find(at("x = foo(|)\n")) == ("a, b)",)
    assert kept.find(at("x = foo(|y\n")) == ()


def test_somebody_types_over_a_bracket_that_was_to_be_replaced() -> None:
    kept = cache("foo(bar(|))", "x) + y", num_absorbed=1)
    assert kept.find(at("foo(bar(x)|)")) == (" + y",)


def test_the_newest_that_agrees_wins_and_only_candidates_that_agree_are_left() -> None:
    kept = cache("x = |", "one", "once", "two")
    kept.keep(Suggestion(at("x = o|"), (Middle("ther"),)))
    assert kept.find(at("x = on|")) == ("e", "ce")
    assert kept.find(at("x = o|")) == ("ther",)


def test_who_asks_for_several_is_not_fobbed_off_with_one() -> None:
    assert cache("x = |", "1").find(at("x = |"), is_full=True) == ()
    assert cache("x = |", "1", "2", is_full=True).find(at("x = |"), is_full=True) == ("1", "2")


def test_other_documents_and_forgotten_ones_know_nothing() -> None:
    kept = cache("x = |", "1")
    assert kept.find(at("x = |", "file:///b.py")) == ()
    kept.forget("file:///a.py")
    assert kept.find(at("x = |")) == ()


def test_the_oldest_are_forgotten() -> None:
    kept = SuggestionCache(most_kept=2)
    for letter in "abc":
        kept.keep(Suggestion(at(f"{letter}|"), (Middle("1"),)))
    assert (len(kept), kept.find(at("a|")), kept.find(at("c|"))) == (2, (), ("1",))


def test_typing_far_from_the_end_of_a_large_file_is_known_too() -> None:
    """The suffix is cut at a bound that moves when a bracket is inserted."""
    rest = "0123456789\n" * 5_000
    assert cache("x = |\n" + rest, "f(a)").find(at("x = f(|)\n" + rest)) == ("a)",)


@given(st.text(st.sampled_from("ab(\n é😀"), min_size=1, max_size=10), st.integers(0, 10), st.text(max_size=5))
def test_what_was_typed_and_what_is_left_are_the_suggestion(said: str, count: int, before: str) -> None:
    before = before.replace("|", "").replace("\r", "")
    typed = said[:count]
    found = cache(f"{before}|", said).find(at(f"{before}{typed}|"))
    assert found == ((said[count:],) if said[count:] else ())


def test_a_spare_that_breaks_the_text_is_never_shown() -> None:
    """Spares are judged when they are looked for, not when they are made."""
    judged = []

    def is_good(middle: Middle) -> bool:
        judged.append(middle.text)
        return middle.text != "abc"

    kept = SuggestionCache()
    spares = (Middle("xyz"), Middle("abc"), Middle("abd"))
    kept.keep(Suggestion(at("x = |\n"), (Middle("q"),), spares=spares, is_good=is_good))
    assert kept.find(at("x = a|\n")) == ("bd",)
    assert judged == ["abc", "abd"]
