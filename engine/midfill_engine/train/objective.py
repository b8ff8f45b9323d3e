"""The losses of one micro-batch: causal on the encoder's window, diffusion on its canvases.

batch ──encode──> causal loss, keys and values ──decode──> diffusion loss over the slots
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from midfill_engine.train.canvases import Batch
from midfill_engine.train.drafts import make_draft, noise, predict
from midfill_engine.train.loss import ChunkGradient, chunk_gradient, cross_entropy
from midfill_engine.train.network import Network, PrefixKeyValues, Weights, embed
from midfill_engine.train.windows import NULL

Figures = dict[str, tuple[float, float]]  # name: (sum, weight)


@dataclass(kw_only=True)
class Losses:
    """What a micro-batch gives: a scalar to differentiate and figures to log."""

    total: Tensor
    figures: Figures = field(default_factory=dict)


def causal_loss(
    weights: Weights, hidden: Tensor, ids: Tensor, trained: Tensor, inner: ChunkGradient = chunk_gradient
) -> tuple[Tensor, Tensor, int]:
    """Next-token loss. hidden [B, W, D], ids [B, W], trained [B, W - 1] boolean.

    Returns the mean loss, its rows' hits and their number.
    """
    rows = trained.flatten().nonzero()[:, 0]
    picked = hidden[:, :-1].flatten(0, 1)[rows]
    target = ids[:, 1:].flatten()[rows]
    total, right = cross_entropy(
        picked, weights.embedding, target, torch.ones_like(target, dtype=torch.float32), weights.softcap, inner
    )
    return total / max(len(rows), 1), right, len(rows)


@dataclass(frozen=True, kw_only=True)
class ObjectiveSettings:
    """How much each loss counts."""

    causal_weight: float = 0.5
    first_weight: float = 1.0
    later_weight: float = 1.0

    def __post_init__(self) -> None:
        if min(vars(self).values()) < 0:
            raise ValueError(f"loss weights must be 0 or above, not {vars(self)}")


@dataclass(frozen=True, kw_only=True)
class Objective:
    """The three losses over one network. `inner` may be a compiled `chunk_gradient`."""

    network: Network
    settings: ObjectiveSettings
    inner: ChunkGradient = chunk_gradient

    def causal(self, weights: Weights, batch: Batch) -> Losses:
        """The causal loss alone."""
        hidden, _ = self.network.encode(weights, batch.encoder)
        loss, figures = self._causal(weights, hidden, batch)
        return Losses(total=loss, figures=figures)

    def joint(self, weights: Weights, batch: Batch, generator: torch.Generator) -> Losses:
        """Causal loss, loss of a first step (all slots noise) and of a later one (a draft made after the first)."""
        hidden, past = self.network.encode(weights, batch.encoder)
        total, figures = self._causal(weights, hidden, batch)
        total = total * self.settings.causal_weight
        masks = batch.masks(weights.embedding.dtype)
        vocabulary = weights.embedding.shape[0]
        pure = batch.clean.clone()
        pure[batch.slots] = noise(int(batch.slots.sum()), vocabulary, generator)
        unknown = (weights.embedding.float().mean(0) * weights.embed_scale).to(weights.embedding.dtype).detach()
        first = self._decode(weights, batch, pure, unknown, past, masks)
        loss, part = self._diffusion(weights, first, batch, batch.first_weight[batch.slots], "first")
        total, figures = total + self.settings.first_weight * loss, figures | part
        embeddings = weights.embedding.detach() * weights.embed_scale
        prediction = predict(first.detach(), weights.embedding.detach(), weights.softcap, weights.embed_scale)
        draft = make_draft(batch, prediction, embeddings, generator)
        later = self._decode(weights, batch, draft.canvas, draft.soft, past, masks)
        loss, part = self._diffusion(
            weights, later, batch, batch.weight[batch.slots] * draft.share, "later", draft.share == 1
        )
        return Losses(total=total + self.settings.later_weight * loss, figures=figures | part)

    def _decode(
        self,
        weights: Weights,
        batch: Batch,
        canvas: Tensor,
        at_slots: Tensor,
        past: PrefixKeyValues,
        masks: tuple[Tensor, ...],
    ) -> Tensor:
        """Hidden states of the slots [S, D]. Pinned positions condition on their own embedding, slots on `at_slots`."""
        soft = embed(weights, canvas).detach().clone()
        soft[batch.slots] = at_slots
        hidden = self.network.decode(weights, canvas, soft, past, batch.positions, masks)
        return hidden[batch.slots]

    def _causal(self, weights: Weights, hidden: Tensor, batch: Batch) -> tuple[Tensor, Figures]:
        loss, right, rows = causal_loss(weights, hidden, batch.encoder, batch.causal, self.inner)
        return loss, {"causal": (float(loss.detach()) * rows, rows), "causal_accuracy": (float(right.sum()), rows)}

    def _diffusion(
        self, weights: Weights, hidden: Tensor, batch: Batch, weight: Tensor, name: str, counted: Tensor | None = None
    ) -> tuple[Tensor, Figures]:
        """The mean loss over slots with weights [S]; hits are counted among the slots `counted` [S], by default all."""
        rows = (weight > 0).nonzero()[:, 0]
        truth, rank = batch.clean[batch.slots][rows], batch.rank[batch.slots][rows]
        share = weight[rows]
        total, right = cross_entropy(hidden[rows], weights.embedding, truth, share, weights.softcap, self.inner)
        mass = float(share.sum())
        hits = right if counted is None else right & counted[rows]
        among = torch.ones_like(right) if counted is None else counted[rows]
        figures = {name: (float(total.detach()), mass)} | _accuracies(name, hits, among, truth, rank)
        return total / max(mass, 1e-6), figures


def _accuracies(name: str, hits: Tensor, among: Tensor, truth: Tensor, rank: Tensor) -> Figures:
    """Hits among the first slots' tokens, all tokens, and nulls."""
    token = truth != NULL
    groups = {"slot0": token & (rank == 0), "tokens": token, "nulls": ~token}
    return {
        f"{name}_{key}": (float((hits & group).sum()), float((among & group).sum())) for key, group in groups.items()
    }
