"""Which tokens a slot may hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor


class Constraint(Protocol):
    """Takes logits of tokens away that a slot may not hold."""

    def apply(self, logits: Tensor) -> Tensor:
        """Logits [B, M, V] with -inf where a token is not allowed; may change `logits` in place."""
        ...


@dataclass(frozen=True, kw_only=True)
class Unconstrained:
    """Everything may stand everywhere."""

    def apply(self, logits: Tensor) -> Tensor:
        return logits


@dataclass(frozen=True, kw_only=True)
class Banned:
    """The tokens marked in `tokens` ([V] bool) never stand in a slot: specials, end of text, channel marks."""

    tokens: Tensor

    def apply(self, logits: Tensor) -> Tensor:
        return logits.masked_fill_(self.tokens, float("-inf"))


@dataclass(frozen=True)
class AllOf:
    """One constraint after the other."""

    parts: tuple[Constraint, ...]

    def apply(self, logits: Tensor) -> Tensor:
        for part in self.parts:
            logits = part.apply(logits)
        return logits
