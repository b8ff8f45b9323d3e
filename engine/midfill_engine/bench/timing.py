"""Durations, and what is said of many of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

Result = TypeVar("Result")


@dataclass
class Series:
    """Durations of one thing, in milliseconds."""

    name: str
    values: list[float] = field(default_factory=list)

    def measure(self, work: Callable[[], Result]) -> Result:
        """What `work` gives; how long it took is kept."""
        began = time.perf_counter()
        result = work()
        self.values.append(1000 * (time.perf_counter() - began))
        return result

    @property
    def p50(self) -> float:
        return statistics.median(self.values)

    @property
    def p95(self) -> float:
        return percentile(self.values, 95)


def percentile(values: Iterable[float], percent: float) -> float:
    """The value below which `percent` percent of `values` lie, by linear interpolation."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def ratio(slow: Series, fast: Series) -> float:
    """How many times longer `slow` takes: the median over the pairs measured turn by turn."""
    return statistics.median(a / b for a, b in zip(slow.values, fast.values, strict=True))
