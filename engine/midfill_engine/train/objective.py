"""The losses of one micro-batch: causal on the encoder's window, diffusion on its canvases.

batch ──encode──> causal loss, keys and values ──decode──> diffusion loss over the slots
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from midfill_engine.train.canvases import Batch
from midfill_engine.train.drafts import Draft, DraftSettings, make_draft
from midfill_engine.train.loss import ChunkGradient, chunk_gradient, cross_entropy
from midfill_engine.train.network import Network, Weights, embed
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
    """How much each loss counts, and what steps of denoising are trained."""

    causal_weight: float = 1.0
    diffusion_weight: float = 1.0
    drafts: DraftSettings = field(default_factory=DraftSettings)

    def __post_init__(self) -> None:
        for name in ("causal_weight", "diffusion_weight"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be 0 or above, not {getattr(self, name)}")


@dataclass(frozen=True, kw_only=True)
class Objective:
    """The losses over one network. `inner` may be a compiled `chunk_gradient`."""

    network: Network
    settings: ObjectiveSettings
    inner: ChunkGradient = chunk_gradient

    def causal(self, weights: Weights, batch: Batch) -> Losses:
        """The causal loss alone."""
        hidden, _ = self.network.encode(weights, batch.encoder)
        loss, figures = self._causal(weights, hidden, batch)
        return Losses(total=loss, figures=figures)

    def joint(self, weights: Weights, batch: Batch, generator: torch.Generator) -> Losses:
        """The causal loss, and the diffusion loss of every canvas at some step of its denoising."""
        hidden, past = self.network.encode(weights, batch.encoder)
        causal, figures = self._causal(weights, hidden, batch)
        embeddings = weights.embedding.detach() * weights.embed_scale
        draft = make_draft(batch, embeddings, self.settings.drafts, generator)
        soft = embed(weights, draft.canvas).detach().clone()  # a pinned position conditions on its own token
        soft[batch.slots] = draft.soft
        masks = batch.masks(weights.embedding.dtype)
        states = self.network.decode(weights, draft.canvas, soft, past, batch.positions, masks)[batch.slots]
        diffusion, part = self._diffusion(weights, states, batch, draft)
        total = self.settings.causal_weight * causal + self.settings.diffusion_weight * diffusion
        return Losses(total=total, figures=figures | part)

    def _causal(self, weights: Weights, hidden: Tensor, batch: Batch) -> tuple[Tensor, Figures]:
        loss, right, rows = causal_loss(weights, hidden, batch.encoder, batch.causal, self.inner)
        return loss, {"causal": (float(loss.detach()) * rows, rows), "causal_accuracy": (float(right.sum()), rows)}

    def _diffusion(self, weights: Weights, states: Tensor, batch: Batch, draft: Draft) -> tuple[Tensor, Figures]:
        """The mean loss over the slots' states [S, D]; figures of the open ones, first and later steps apart."""
        weight = batch.weight[batch.slots] * draft.share
        rows = (weight > 0).nonzero()[:, 0]
        truth, rank, share = batch.clean[batch.slots][rows], batch.rank[batch.slots][rows], weight[rows]
        total, right = cross_entropy(states[rows], weights.embedding, truth, share, weights.softcap, self.inner)
        mass = float(share.sum())
        figures: Figures = {"diffusion": (float(total.detach()), mass)}
        for name, step in (("first", draft.is_first), ("later", ~draft.is_first)):
            figures |= _accuracies(name, right, (draft.is_open & step)[rows], truth, rank)
        return total / max(mass, 1e-6), figures


def _accuracies(name: str, right: Tensor, among: Tensor, truth: Tensor, rank: Tensor) -> Figures:
    """Hits `among` some slots: of the first slots' tokens, of all tokens, of nulls."""
    token = truth != NULL
    groups = {"slot0": token & (rank == 0), "tokens": token, "nulls": ~token}
    hits = {key: (right & among & group, among & group) for key, group in groups.items()}
    return {f"{name}_{key}": (float(hit.sum()), float(group.sum())) for key, (hit, group) in hits.items()}
