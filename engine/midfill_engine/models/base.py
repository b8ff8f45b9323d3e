"""What the filler needs of a model, whatever its family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from midfill_engine.denoise.loop import LastStep, Slots


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """How an encoding went: of `num_tokens`, `num_cached` were known already."""

    num_tokens: int
    num_cached: int


class BlockModel(Protocol):
    """A block-diffusion model: a causal encoder with a cache, and a denoiser of the canvas that follows it."""

    @property
    def device(self) -> torch.device: ...

    @property
    def vocab_size(self) -> int: ...

    def encode(self, ids: list[int]) -> Encoded:
        """Make the cache hold exactly `ids` (at least one), computing only what it does not hold yet."""
        ...

    def slot_logits(self, canvas: Tensor, slots: Slots, last: LastStep | None) -> Tensor:
        """See `denoise.loop.Denoiser`; the canvas stands right behind what is encoded."""
        ...

    def forget(self) -> None:
        """Give the cache's memory back."""
        ...
