"""What is counted of suggestions: numbers only, never a word of the user's text.

Times are kept as counts of buckets, each a tenth wider than the one before, so that the counts of several sessions and
weeks can be added up and still have a median.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

GROWTH = 1.1
LEAST_MS = 0.1
LATENCIES = "latencies"


@dataclass(kw_only=True)
class Tally:
    """`num_asked`: requests of the editor; `num_answered` of them with something, `num_known` of these from what had
    been suggested, `num_joined` from a fill begun for an earlier key, `num_ahead` from one that nobody had asked for.
    `num_fills`: questions to the engine, `num_fills_ahead` of them in advance. `num_shown`: suggestions; typing into
    one counts once. `num_characters_accepted`: of all accepted, `kept` of `watched` were still there a while later."""

    num_asked: int = 0
    num_answered: int = 0
    num_known: int = 0
    num_joined: int = 0
    num_ahead: int = 0
    num_fills: int = 0
    num_fills_ahead: int = 0
    num_shown: int = 0
    num_accepted: int = 0
    num_partly_accepted: int = 0
    num_characters_accepted: int = 0
    num_characters_watched: int = 0
    num_characters_kept: int = 0
    latencies: Counter[int] = field(default_factory=Counter)

    def note_latency(self, seconds: float) -> None:
        """How long somebody waited for a suggestion."""
        self.latencies[_bucket(1000 * seconds)] += 1

    def latency_ms(self, percent: float) -> float | None:
        """Below which `percent` percent of the waits lay, to a twentieth; None if there were none."""
        left = self.latencies.total() * percent / 100
        for bucket in sorted(self.latencies):
            left -= self.latencies[bucket]
            if left <= 0:
                return round(LEAST_MS * math.pow(GROWTH, bucket + 0.5), 1)
        return None

    def clear(self) -> None:
        """Begin at nothing."""
        for name in NUMBERS:
            setattr(self, name, 0)
        self.latencies.clear()

    def add(self, other: Tally) -> None:
        """Count what the other has counted."""
        for name in NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.latencies.update(other.latencies)

    def dump(self) -> dict[str, object]:
        """For a file."""
        numbers: dict[str, object] = {name: getattr(self, name) for name in NUMBERS}
        return numbers | {LATENCIES: {str(bucket): count for bucket, count in sorted(self.latencies.items())}}

    @classmethod
    def load(cls, raw: object) -> Tally:
        """From a file; what makes no sense in it counts as nothing."""
        tally = cls()
        if not isinstance(raw, Mapping):
            return tally
        for name in NUMBERS:
            setattr(tally, name, _count(raw.get(name)))
        latencies = raw.get(LATENCIES)
        for bucket, count in latencies.items() if isinstance(latencies, Mapping) else ():
            if isinstance(bucket, str) and bucket.isdecimal() and len(bucket) < 4:
                tally.latencies[int(bucket)] += _count(count)
        return tally


NUMBERS = tuple(item.name for item in fields(Tally) if item.name != LATENCIES)


def _bucket(milliseconds: float) -> int:
    return max(0, math.floor(math.log(max(milliseconds, LEAST_MS) / LEAST_MS, GROWTH)))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
