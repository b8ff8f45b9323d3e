"""Cross-entropy of softcapped head logits without keeping any [rows, vocabulary] tensor.

The gradients are worked out on the way forward, chunk by chunk, so that the logits of a chunk stay near the processor
and are never needed again; the tests compare loss and gradients with the plain path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

CHUNK = 512  # rows whose logits exist at once

ChunkGradient = Callable[[Tensor, Tensor, Tensor, float], tuple[Tensor, Tensor, Tensor]]


def chunk_gradient(logits: Tensor, target: Tensor, weight: Tensor, cap: float) -> tuple[Tensor, Tensor, Tensor]:
    """For raw head logits [R, V], targets [R] and weights [R]: the weighted loss of each row [R] in fp32, which rows'
    argmax is the target [R], and d(sum of losses)/d(raw logits) [R, V] in the logits' type."""
    capped = torch.tanh(logits.float() / cap) * cap
    peak = capped.amax(-1, keepdim=True)
    total = torch.log(torch.exp(capped - peak).sum(-1, keepdim=True)) + peak
    at_target = capped.gather(-1, target[:, None])
    hit = torch.arange(logits.shape[1], device=logits.device)[None] == target[:, None]
    slope = 1 - (capped / cap).square()
    gradient = (torch.exp(capped - total) - hit.float()) * slope * weight[:, None]
    return (total - at_target)[:, 0] * weight, at_target[:, 0] >= peak[:, 0], gradient.to(logits.dtype)


class _SoftcapCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, head: Tensor, target: Tensor, weight: Tensor, cap: float, inner: ChunkGradient
    ) -> tuple[Tensor, Tensor]:
        d_hidden = torch.empty_like(hidden)
        d_head = torch.zeros(head.shape, dtype=torch.float32, device=head.device)
        losses, rights = [], []
        for at in range(0, len(target), CHUNK):
            part = slice(at, at + CHUNK)
            loss, right, gradient = inner(hidden[part] @ head.T, target[part], weight[part], cap)
            d_hidden[part] = gradient @ head
            d_head += gradient.T @ hidden[part]
            losses.append(loss)
            rights.append(right)
        ctx.save_for_backward(d_hidden, d_head)
        right = torch.cat(rights)
        ctx.mark_non_differentiable(right)
        return torch.cat(losses).sum(), right

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        d_hidden, d_head = ctx.saved_tensors
        scale = gradients[0]
        return d_hidden * scale.to(d_hidden.dtype), d_head.mul_(scale), None, None, None, None


def cross_entropy(
    hidden: Tensor, head: Tensor, target: Tensor, weight: Tensor, cap: float, inner: ChunkGradient = chunk_gradient
) -> tuple[Tensor, Tensor]:
    """Sum over rows of weight x cross-entropy, and which rows are right.

    hidden [R, D] and head [V, D] in one type, target [R], weight [R] fp32. Rows are padded to whole chunks, so that a
    compiled `inner` sees one shape. The gradient of `head` comes out in fp32.
    """
    rows = len(target)
    missing = -rows % CHUNK if rows else CHUNK
    if missing:
        hidden = torch.nn.functional.pad(hidden, (0, 0, 0, missing))
        target = torch.nn.functional.pad(target, (0, missing))
        weight = torch.nn.functional.pad(weight, (0, missing))
    total, right = _SoftcapCrossEntropy.apply(hidden, head, target, weight, cap, inner)  # type: ignore[no-untyped-call]
    return total, right[:rows]
