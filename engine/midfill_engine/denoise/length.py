"""Where the middle ends inside its slots.

A model trained with a null token decides itself: it puts null into the slots that it does not need, and after the
first null there is nothing. A model without one must fill every slot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class Length(Protocol):
    """Decides which slots lie behind the middle's end."""

    def behind_end(self, tokens: Tensor, is_locked: Tensor) -> Tensor:
        """Slots after the first locked end, [B, M] bool, from tokens [B, M] and whether each is locked."""
        ...

    def cut(self, tokens: list[int]) -> list[int]:
        """The tokens before the end."""
        ...

    @property
    def filler(self) -> int | None:
        """The token that stands behind the end; None where there is no end."""
        ...


@dataclass(frozen=True, kw_only=True)
class FixedLength:
    """Every slot holds a token of the middle."""

    @property
    def filler(self) -> None:
        return None

    def behind_end(self, tokens: Tensor, is_locked: Tensor) -> Tensor:
        del is_locked
        return torch.zeros_like(tokens, dtype=torch.bool)

    def cut(self, tokens: list[int]) -> list[int]:
        return tokens


@dataclass(frozen=True, kw_only=True)
class NullLength:
    """The middle ends before the first null. `enders`: tokens after which nothing of interest comes either (a line end
    in a fill of one line); the ender itself still belongs to the middle."""

    null: int
    enders: Tensor | None = None  # [V] bool

    @property
    def filler(self) -> int:
        return self.null

    def behind_end(self, tokens: Tensor, is_locked: Tensor) -> Tensor:
        ends = tokens == self.null
        if self.enders is not None:
            ends = ends | self.enders[tokens]
        ended = (ends & is_locked).cumsum(-1) > 0
        behind = torch.zeros_like(ended)
        behind[:, 1:] = ended[:, :-1]
        return behind

    def cut(self, tokens: list[int]) -> list[int]:
        return tokens[: tokens.index(self.null)] if self.null in tokens else tokens


@dataclass(frozen=True, kw_only=True)
class EachLength:
    """Several holes on one canvas, each with an end of its own. `sizes`: slots of each; `lengths`: how each ends."""

    sizes: tuple[int, ...]
    lengths: tuple[Length, ...]

    @property
    def filler(self) -> int | None:
        return self.lengths[0].filler

    def behind_end(self, tokens: Tensor, is_locked: Tensor) -> Tensor:
        parts = zip(self.lengths, tokens.split(self.sizes, -1), is_locked.split(self.sizes, -1), strict=True)
        return torch.cat([length.behind_end(part, locked) for length, part, locked in parts], -1)

    def cut(self, tokens: list[int]) -> list[int]:
        return [token for part in self.cut_each(tokens) for token in part]

    def cut_each(self, tokens: list[int]) -> list[list[int]]:
        """The tokens of each hole before its end."""
        starts = [sum(self.sizes[:i]) for i in range(len(self.sizes))]
        spans = zip(starts, self.sizes, self.lengths, strict=True)
        return [length.cut(tokens[start : start + size]) for start, size, length in spans]
