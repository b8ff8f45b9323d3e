"""Metrics against slow, obvious re-implementations and tables."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_engine.evaluate import metrics

SHORT = st.text("ab\n é😀", max_size=12)


def slow_distance(a: str, b: str) -> int:
    """Levenshtein's recursion as it is written down."""

    @cache
    def distance(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        change = a[i - 1] != b[j - 1]
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, distance(i - 1, j - 1) + change)

    return distance(len(a), len(b))


@given(SHORT, SHORT)
def test_edit_distance_is_levenshteins(a: str, b: str) -> None:
    assert metrics.edit_distance(a, b) == slow_distance(a, b)


@given(SHORT, SHORT)
def test_edit_similarity_is_a_share_and_symmetric(a: str, b: str) -> None:
    similarity = metrics.edit_similarity(a, b)
    assert similarity == metrics.edit_similarity(b, a)
    assert 0 <= similarity <= 1
    assert (similarity == 1) == (a == b)


def test_edit_distance_of_long_texts() -> None:
    """Longer than a machine word, where a wrong mask would show."""
    text = "return [value for value in values if value is not None]\n" * 5
    assert metrics.edit_distance(text, text[:100] + "x" + text[101:]) == 1
    assert metrics.edit_distance(text, text[7:]) == 7
    assert metrics.edit_distance("", text) == len(text)


@given(SHORT, SHORT)
def test_repeated_is_the_longest_overlap(fill: str, suffix: str) -> None:
    overlaps = [n for n in range(len(suffix) + 1) if fill.endswith(suffix[:n])]
    longest = max(overlaps)
    is_long = longest >= metrics.MIN_ECHO and len(suffix[:longest].strip()) >= metrics.MIN_ECHO
    assert metrics.num_repeated(fill, suffix) == (longest if is_long else 0)


ECHOES = [
    # fill, truth, suffix, echo?
    ("x = 1\n    return x", "x = 1", "\n    return x\n", True),  # eight characters and more
    ("return x", "x = 1", "\n    return x\n", True),  # a whole line, indented otherwise
    ("}", "x = 1;", "\n}\n", True),  # a whole line, however short
    ("}", "}", "\n}\n", False),  # so does the truth
    ("    a = 1\n", "    b = 1\n", "    a = 1\n    c\n", True),  # a hole of whole lines
    ("foo(a)", "foo(b)", ")\n", False),  # the suffix goes on in the hole's own line
    ("), key=key)", "x", "), key=key)\n", True),
    ("        ", "x", "        y\n", False),  # blanks are no echo
    ("", "x", "\nx\n", False),
    ("", "x", "", False),
    ("x", "y", "", False),
    ("anything else", "x", "\n    return x\n", False),
]


@pytest.mark.parametrize(("fill", "truth", "suffix", "expected"), ECHOES)
def test_echo(fill: str, truth: str, suffix: str, expected: bool) -> None:
    assert metrics.echoes_suffix(fill, truth, suffix) is expected


@given(SHORT, SHORT)
def test_the_truth_never_echoes(truth: str, suffix: str) -> None:
    assert not metrics.echoes_suffix(truth, truth, suffix)


EXACT = [
    ("a", "a", True, True),
    ("a  ", "a", False, True),
    ("a\t\nb\n\n", "a\nb", False, True),
    (" a", "a", False, False),
    ("a\n\nb", "a\nb", False, False),
    ("", "\n", False, True),
]


@pytest.mark.parametrize(("fill", "truth", "exact", "but_blanks"), EXACT)
def test_exact(fill: str, truth: str, exact: bool, but_blanks: bool) -> None:
    assert metrics.is_exact(fill, truth) is exact
    assert metrics.is_exact_but_blanks(fill, truth) is but_blanks


@pytest.mark.parametrize(("fill", "expected"), [("", True), (" \n\t", True), ("x", False)])
def test_empty(fill: str, expected: bool) -> None:
    assert metrics.is_empty(fill) is expected
