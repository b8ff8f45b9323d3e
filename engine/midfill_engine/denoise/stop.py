"""When a row of the canvas is done: its argmax has stood still and it is sure of it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class StableAndConfident:
    """Stop when the argmax of the slots is the same as at each of the `stability` steps before, and the mean entropy of
    the slots is below `confidence` nats.

    DiffusionGemma's rule, but for the mean: only slots count, since pinned positions have entropy 0 and would loosen
    the threshold by as many times as they outnumber the slots. `stability` 0: confidence alone decides.
    """

    stability: int = 1
    confidence: float = 0.005

    def __post_init__(self) -> None:
        if self.stability < 0:
            raise ValueError(f"stability must be 0 or more, got {self.stability}")
        if not self.confidence > 0:
            raise ValueError(f"confidence must be above 0, got {self.confidence}")

    def is_done(self, best: Tensor, history: list[Tensor], entropy: Tensor) -> Tensor:
        """[B] bool, from the argmax `best` [B, M], those of the steps before (oldest first, each [B, M]) and [B, M]."""
        confident = entropy.mean(-1) < self.confidence
        if len(history) < self.stability:
            return torch.zeros_like(confident)
        for earlier in history[len(history) - self.stability :]:
            confident = confident & (earlier == best).all(-1)
        return confident
