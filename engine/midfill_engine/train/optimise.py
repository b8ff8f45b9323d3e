"""Optimisers: Muon for the hidden matrices, AdamW for the rest, a running average of the weights, a schedule.

Muon (Jordan et al. 2024) replaces a matrix's momentum by the nearest orthogonal matrix, found by a Newton-Schulz
iteration; the scaling is torch.optim.Muon's `match_rms_adamw`. Matrices of one shape are orthogonalised together, which
on small models is several times faster than one by one; the tests hold the result against torch.optim.Muon.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # torch.optim.Muon's coefficients
NEWTON_SCHULZ_STEPS = 5


@dataclass(frozen=True, kw_only=True)
class OptimiserSettings:
    """Peak learning rates and the rest."""

    muon_lr: float = 4e-3
    adam_lr: float = 2e-3
    weight_decay: float = 0.02
    momentum: float = 0.95
    max_grad_norm: float = 1.0
    average_decay: float = 0.998  # of the running average of the weights, per step

    def __post_init__(self) -> None:
        for name in ("muon_lr", "adam_lr", "max_grad_norm"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")
        for name in ("momentum", "average_decay"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be in [0, 1), not {getattr(self, name)}")


def orthogonalise(matrices: Tensor, dtype: torch.dtype) -> Tensor:
    """Newton-Schulz on [n, rows, columns]: nearly orthogonal matrices with the same singular vectors, in fp32."""
    a, b, c = NEWTON_SCHULZ
    is_tall = matrices.shape[1] > matrices.shape[2]
    x = (matrices.mT if is_tall else matrices).to(dtype)
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    near: Tensor = (x.mT if is_tall else x).float()
    return near


class Muon:
    """Momentum, Nesterov, orthogonalise, decoupled weight decay; one group of matrices a shape."""

    def __init__(self, matrices: Iterable[Tensor], settings: OptimiserSettings, dtype: torch.dtype) -> None:
        self.settings, self.dtype = settings, dtype
        self.matrices = list(matrices)
        groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for index, matrix in enumerate(self.matrices):
            groups[tuple(matrix.shape[-2:])].append(index)
        self.groups = dict(groups)
        self.momentum = [torch.zeros_like(matrix) for matrix in self.matrices]

    @torch.no_grad()
    def step(self, scale: float) -> None:
        """One step at `scale` times the peak learning rate, from the matrices' `.grad`."""
        lr = self.settings.muon_lr * scale
        for (rows, columns), members in self.groups.items():
            updates = []
            for index in members:
                grad = self.matrices[index].grad
                assert grad is not None
                self.momentum[index].lerp_(grad, 1 - self.settings.momentum)
                updates.append(grad.lerp(self.momentum[index], self.settings.momentum).reshape(rows, columns))
            stacked = orthogonalise(torch.stack(updates), self.dtype)
            length = lr * 0.2 * max(rows, columns) ** 0.5
            for index, update in zip(members, stacked, strict=True):
                matrix = self.matrices[index]
                matrix.mul_(1 - lr * self.settings.weight_decay).add_(update.reshape(matrix.shape), alpha=-length)

    def state_dict(self) -> list[Tensor]:
        """The momentum, in the order of the matrices."""
        return self.momentum

    def load_state_dict(self, state: list[Tensor]) -> None:
        """Take up a `state_dict`."""
        for mine, theirs in zip(self.momentum, state, strict=True):
            mine.copy_(theirs)


class Optimiser:
    """Both optimisers and the average over one model. The vision tower is frozen: nothing trains or calls it."""

    def __init__(self, model: nn.Module, settings: OptimiserSettings, muon_dtype: torch.dtype) -> None:
        self.settings = settings
        freeze_vision(model)
        head = model.get_output_embeddings().weight  # type: ignore[operator]
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        is_matrix = [p.ndim >= 2 and min(p.shape[-2:]) > 1 and p is not head for p in self.parameters]
        pairs = list(zip(self.parameters, is_matrix, strict=True))
        self.muon = Muon((p for p, matrix in pairs if matrix), settings, muon_dtype)
        rest = [p for p, matrix in pairs if not matrix]
        self.adam = torch.optim.AdamW(rest, lr=settings.adam_lr, betas=(0.9, 0.95), weight_decay=0.0, fused=True)
        self.average = [p.detach().clone() for p in self.parameters]

    def step(self, scale: float, step: int) -> float:
        """Clip, update, average, clear. Returns the gradient norm before clipping."""
        for parameter in self.parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        norm = nn.utils.clip_grad_norm_(self.parameters, self.settings.max_grad_norm)
        for group in self.adam.param_groups:
            group["lr"] = self.settings.adam_lr * scale
        self.adam.step()
        self.muon.step(scale)
        decay = min(self.settings.average_decay, (1 + step) / (10 + step))
        torch._foreach_lerp_(self.average, [p.detach() for p in self.parameters], 1 - decay)
        for parameter in self.parameters:
            parameter.grad = None
        return float(norm)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the weights themselves."""
        return {"adam": self.adam.state_dict(), "muon": self.muon.state_dict(), "average": self.average}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up a `state_dict`."""
        self.adam.load_state_dict(state["adam"])
        self.muon.load_state_dict(state["muon"])
        for mine, theirs in zip(self.average, state["average"], strict=True):
            mine.copy_(theirs)

    @torch.no_grad()
    def swap_average(self) -> None:
        """Exchange the weights and their average, and back: what is evaluated and exported is the average."""
        for parameter, average in zip(self.parameters, self.average, strict=True):
            kept = parameter.detach().clone()
            parameter.copy_(average)
            average.copy_(kept)


def freeze_vision(model: nn.Module) -> None:
    """Only the text part trains."""
    for name, parameter in model.named_parameters():
        if "vision" in name:
            parameter.requires_grad_(False)


def learning_rate_scale(fraction: float, decay: float, floor: float = 0.03) -> float:
    """Flat, then linear decay to `floor` over the last `decay` of the budget. `fraction` of the budget spent."""
    fall = min(1.0, max(1 - fraction, 0.0) / decay) if decay > 0 else 1.0
    return max(fall, floor)
