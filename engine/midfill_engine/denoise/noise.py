"""What an unknown slot holds: random tokens."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class UniformNoise:
    """Tokens drawn evenly from the ids `first` to `last`, both included (D3PM, arXiv 2107.03006)."""

    first: int = 0
    last: int

    def __post_init__(self) -> None:
        if not 0 <= self.first <= self.last:
            raise ValueError(f"noise needs 0 <= first <= last, got first={self.first}, last={self.last}")

    def draw(self, num: int, generator: torch.Generator) -> Tensor:
        """`num` token ids, [num], on the generator's device."""
        return torch.randint(self.first, self.last + 1, (num,), generator=generator, device=generator.device)
