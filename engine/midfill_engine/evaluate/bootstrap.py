"""Means over cases and over groups, with intervals that respect that the cases of a group hang together."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from midfill_engine.bench.timing import percentile

NUM_RESAMPLES = 1000
_TAIL_PERCENT = 2.5  # on either side: 95% intervals


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """`micro`: mean over cases. `macro`: mean of the groups' means. Each with its 95% percentile interval from
    resampling whole groups."""

    num_cases: int
    num_groups: int
    micro: float
    micro_interval: tuple[float, float]
    macro: float
    macro_interval: tuple[float, float]


def estimate(values: Iterable[tuple[str, float]], seed: int = 0, num_resamples: int = NUM_RESAMPLES) -> Estimate | None:
    """What `(group, value)` pairs say; None if there are none. Same values and seed, same intervals."""
    groups: dict[str, list[float]] = {}
    for group, value in values:
        groups.setdefault(group, []).append(value)
    if not groups:
        return None
    totals = [(sum(of_group), len(of_group)) for _, of_group in sorted(groups.items())]
    rng = random.Random(seed)
    draws = [rng.choices(totals, k=len(totals)) for _ in range(num_resamples)]
    return Estimate(
        num_cases=sum(number for _, number in totals),
        num_groups=len(totals),
        micro=_micro(totals),
        micro_interval=_interval([_micro(draw) for draw in draws]),
        macro=_macro(totals),
        macro_interval=_interval([_macro(draw) for draw in draws]),
    )


def _micro(totals: list[tuple[float, int]]) -> float:
    return sum(total for total, _ in totals) / sum(number for _, number in totals)


def _macro(totals: list[tuple[float, int]]) -> float:
    return sum(total / number for total, number in totals) / len(totals)


def _interval(means: list[float]) -> tuple[float, float]:
    return percentile(means, _TAIL_PERCENT), percentile(means, 100 - _TAIL_PERCENT)
