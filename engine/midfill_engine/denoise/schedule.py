"""How hot a step samples."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, kw_only=True)
class LinearTemperature:
    """Falls from `t_max` at the first step towards `t_min` at the last, as DiffusionGemma's sampler has it:
    with n of N steps still to do, t = t_min + (t_max - t_min) * n / N. Both 0: greedy."""

    t_min: float = 0.0
    t_max: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.t_min <= self.t_max:
            raise ValueError(f"a schedule needs 0 <= t_min <= t_max, got t_min={self.t_min}, t_max={self.t_max}")

    @property
    def is_greedy(self) -> bool:
        return self.t_max == 0.0

    def at(self, step: int, max_steps: int) -> float:
        """The temperature of step `step` (1-based), in float32 as transformers has it: a last bit counts."""
        left = torch.tensor(max_steps - step + 1, dtype=torch.int32)
        return float(self.t_min + (self.t_max - self.t_min) * (left / max_steps))
