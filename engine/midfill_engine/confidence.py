"""How sure a judged draft may be called: the probability that it is exactly what the user would have written.

A logistic model of four facts, fitted per preset on cases whose true middle is known (`midfill eval --fit-confidence`):
how far the draft is ahead of the others, how likely its tokens are, how many they are, and how likely what follows is
behind it. Left to themselves these numbers order drafts well but mean nothing as numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

NUM_FACTS = 5
"""Four and a constant."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What is known of one draft. `share`: log of its share among all drafts, by likelihood in their place. `middle`:
    log-probability of its tokens. `num_tokens` of them. `after`: mean log-probability of a token that follows."""

    share: float
    middle: float
    num_tokens: int
    after: float

    @property
    def features(self) -> tuple[float, ...]:
        """What the weights of a calibration are for, a constant last."""
        return (self.share, self.middle, math.log1p(self.num_tokens), self.after, 1.0)


@dataclass(frozen=True)
class Calibration:
    """The weights of `Evidence.features`."""

    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.weights) != NUM_FACTS or not all(math.isfinite(weight) for weight in self.weights):
            raise ValueError(f"a calibration has finite weights for each fact, got {self.weights!r}")

    def probability(self, evidence: Evidence) -> float:
        """Of being exactly right, 0 to 1."""
        total = sum(weight * fact for weight, fact in zip(self.weights, evidence.features, strict=True))
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, total))))


def shares(totals: Sequence[float]) -> list[float]:
    """Logarithms of each draft's share, from the log-likelihoods of all."""
    highest = max(totals, default=0.0)
    norm = highest + math.log(sum(math.exp(total - highest) for total in totals)) if totals else 0.0
    return [total - norm for total in totals]
