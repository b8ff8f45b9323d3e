"""Means and intervals."""

from __future__ import annotations

import random

import pytest

from midfill_engine.evaluate.bootstrap import estimate

VALUES = [(f"g{number % 7}", float(random.Random(number).random() < 0.4)) for number in range(60)]


def test_same_seed_same_interval() -> None:
    assert estimate(VALUES, seed=3) == estimate(reversed(VALUES), seed=3)
    assert estimate(VALUES, seed=3) != estimate(VALUES, seed=4)


def test_nothing_says_nothing() -> None:
    assert estimate([]) is None


def test_micro_and_macro() -> None:
    """Three cases of one group and one of another: by hand."""
    found = estimate([("a", 1.0), ("a", 1.0), ("a", 1.0), ("b", 0.0)])
    assert found is not None
    assert (found.micro, found.macro, found.num_cases, found.num_groups) == (0.75, 0.5, 4, 2)
    assert found.micro_interval == (0.0, 1.0)


def test_cases_of_one_group_are_no_more_evidence_than_one() -> None:
    """Every case ten times over, in the same groups: the interval stays. In groups of their own, it narrows."""
    once, same = estimate(VALUES), estimate(VALUES * 10)
    apart = estimate([(f"{group}/{at}", value) for at, (group, value) in enumerate(VALUES * 10)])
    assert once is not None
    assert same is not None
    assert apart is not None
    assert same.micro_interval == pytest.approx(once.micro_interval)
    assert _width(apart.micro_interval) < _width(once.micro_interval) / 2


def test_the_interval_covers_about_as_often_as_it_says() -> None:
    rng = random.Random(0)
    hits = 0
    for _ in range(100):
        values = [(str(at), float(rng.random() < 0.3)) for at in range(60)]
        found = estimate(values, num_resamples=200)
        assert found is not None
        hits += found.micro_interval[0] <= 0.3 <= found.micro_interval[1]
    assert hits >= 85


def _width(interval: tuple[float, float]) -> float:
    return interval[1] - interval[0]
