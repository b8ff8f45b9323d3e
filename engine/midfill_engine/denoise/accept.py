"""Which slots a step locks: as many as are sure enough together."""

from __future__ import annotations

import torch
from torch import Tensor


def entropies(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Entropy in nats of each slot's distribution, [B, M] from logits [B, M, V], and their logsumexp, [B, M].

    In the very order of operations of torch.distributions.Categorical, which transformers' sampler uses: a last bit
    decides which of two slots is locked. A banned token (logit -inf) adds nothing.
    """
    normaliser = logits.logsumexp(-1, keepdim=True)
    log_probs = logits - normaliser
    probs = log_probs.softmax(-1)
    entropy = -(log_probs.clamp_(min=torch.finfo(log_probs.dtype).min).mul_(probs)).sum(-1)
    return entropy, normaliser[..., 0]


def within_bound(cost: Tensor, bound: float, at_least: Tensor | None = None) -> Tensor:
    """Slots accepted by the entropy bound, [B, M] bool.

    The k slots of lowest cost for which sum(cost) - max(cost) <= bound: that difference bounds the mutual information
    of the k tokens, which are drawn as if independent (Ben-Hamu et al., arXiv 2505.24857). At least one is
    accepted, and of row b at least `at_least[b]`.
    """
    ordered, order = torch.sort(cost, dim=-1)
    fits = ordered.cumsum(-1) - ordered <= bound
    if at_least is not None:
        fits |= torch.arange(cost.shape[-1], device=cost.device) < at_least[:, None]
    return torch.zeros_like(fits).scatter(-1, order, fits)
