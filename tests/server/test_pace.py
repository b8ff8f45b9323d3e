"""How long to wait for the next key: decided by plain numbers, so it is tested by plain numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_server.pace import LEAST_KNOWN, LONGEST_GAP_S, Pace


def pace(gaps: list[float], fills: list[float]) -> Pace:
    """What is known after keys that came at such distances, and such fills."""
    known, now = Pace(), 0.0
    known.note_key(now)
    for gap in gaps:
        now += gap
        known.note_key(now)
    for fill in fills:
        known.note_fill(fill)
    return known


@pytest.mark.parametrize(
    ("gaps", "fills", "bound", "expected"),
    [
        ([], [0.1], 0.075, 0.0),  # nothing is known of the user
        ([0.125] * 20, [0.15] * 5, 0.075, 0.0),  # even typing: the next key does not come within the bound
        ([0.125] * 20, [0.15] * 5, 0.5, 0.15625),  # who allows it has a fill begun only when typing stops
        ([0.03, 0.3] * 10, [0.15] * 5, 0.075, 0.0375),  # two keys in quick succession, then none for a while
        ([0.03, 0.3] * 10, [0.02] * 5, 0.075, 0.0),  # the engine is quicker than the keys
        ([0.03, 0.3] * 10, [0.15] * 5, 0.0, 0.0),  # the user wants no wait
        ([LONGEST_GAP_S + 1] * 20, [0.15], 9.0, 0.0),  # pauses are not typing
    ],
)
def test_how_long_is_waited(gaps: list[float], fills: list[float], bound: float, expected: float) -> None:
    assert pace(gaps, fills).pause_s(bound) == pytest.approx(expected)


@given(
    st.lists(st.floats(0, 3), max_size=40),
    st.lists(st.floats(0, 3), max_size=40),
    st.floats(0, 5),
)
def test_never_more_than_allowed(gaps: list[float], fills: list[float], bound: float) -> None:
    assert 0 <= pace(gaps, fills).pause_s(bound) <= bound


def test_it_learns_anew_when_the_user_types_otherwise() -> None:
    known = pace([0.03] * LEAST_KNOWN + [0.2] * 100, [1.0])
    assert known.pause_s(0.075) == 0.0
