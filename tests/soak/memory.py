"""How much memory a process has over time, and whether that is flat."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field

import psutil

MIB = 2**20
WARM_UP_SHARE = 0.3
"""The beginning is no leak: modules are imported, caches filled."""


@dataclass
class Memory:
    """Samples of one process's resident memory: (seconds, bytes)."""

    pid: int
    samples: list[tuple[float, int]] = field(default_factory=list)

    def look(self) -> None:
        try:
            self.samples.append((time.monotonic(), psutil.Process(self.pid).memory_info().rss))
        except psutil.NoSuchProcess:
            return

    @property
    def settled(self) -> list[tuple[float, int]]:
        return self.samples[int(len(self.samples) * WARM_UP_SHARE) :]

    @property
    def seconds(self) -> float:
        return self.samples[-1][0] - self.samples[0][0] if self.samples else 0.0

    @property
    def most_mib(self) -> float:
        return max((size for _when, size in self.samples), default=0) / MIB

    @property
    def growth_mib(self) -> float:
        """From the first third of what comes after the warm-up to its last third, by their medians."""
        third = len(self.settled) // 3
        if not third:
            return 0.0
        sizes = [size for _when, size in self.settled]
        return (statistics.median(sizes[-third:]) - statistics.median(sizes[:third])) / MIB

    @property
    def slope_mib_per_h(self) -> float:
        """The line through the samples after the warm-up, by least squares."""
        if len(self.settled) < 3:
            return 0.0
        times, sizes = zip(*self.settled, strict=True)
        return statistics.linear_regression(times, sizes).slope * 3600 / MIB
