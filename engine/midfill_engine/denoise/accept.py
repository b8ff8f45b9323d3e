"""Which slots a step locks: as many as are sure enough together."""

from __future__ import annotations

import torch
from torch import Tensor


def entropies(log_probs: Tensor) -> Tensor:
    """Entropy in nats of each slot's distribution, [B, M] from [B, M, V]. A banned token (probability 0) adds nothing."""
    probs = log_probs.exp()
    return -torch.where(probs > 0, probs * log_probs, 0.0).sum(-1)


def within_bound(cost: Tensor, bound: float) -> Tensor:
    """Slots accepted by the entropy bound, [B, M] bool.

    The k slots of lowest cost for which sum(cost) - max(cost) <= bound: that difference bounds the mutual information
    of the k tokens, which are drawn as if independent (Ben-Hamu et al., arXiv 2505.24857). At least one is accepted.
    """
    ordered, order = torch.sort(cost, dim=-1)
    fits = ordered.cumsum(-1) - ordered <= bound
    return torch.zeros_like(fits).scatter(-1, order, fits)
