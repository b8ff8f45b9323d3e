"""What a canvas looks like after some denoising steps: made from the model's own first pass, as inference would.

The slots of which the first pass was surest are shown, the others hold fresh noise. Half of the canvases show what the
model predicted there, right or wrong (so it learns to mend its own mistakes); the other half show the truth (so it
learns to build on what is right). The self-conditioning signal is the first pass's expectation, sharpened to the shown
token where the truth is shown: a token that was locked had nearly all the probability.

Shapes: B windows, N canvas positions, S slots in all (flat over the batch), V vocabulary, D hidden.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from midfill_engine.train.canvases import Batch
from midfill_engine.train.windows import FIRST_NOISE_ID, NULL

LOWEST_BOUND, HIGHEST_BOUND = 0.05, 6.0  # of the entropy bound, nats; drawn log-uniformly for each canvas
OWN_SHARE = 0.5  # of the canvases show the model's own predictions
CHUNK = 512  # slots whose logits exist at once


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """A pass without gradient, as far as a draft needs it."""

    best: Tensor  # [S] argmax
    entropy: Tensor  # [S] nats
    soft: Tensor  # [S, D] expected embedding


def noise(count: int, vocabulary: int, generator: torch.Generator) -> Tensor:
    """Uniform noise over the ordinary tokens, [count], on the generator's device."""
    return torch.randint(FIRST_NOISE_ID, vocabulary, (count,), generator=generator, device=generator.device)


@torch.no_grad()
def predict(hidden: Tensor, embedding: Tensor, cap: float, scale: float) -> Prediction:
    """Read slots' hidden states [S, D] as inference does: specials banned, softmax, expected embedding."""
    parts = [_predict_chunk(part, embedding, cap, scale) for part in hidden.split(CHUNK)]
    best, entropy, soft = (torch.cat(column) for column in zip(*parts, strict=True))
    return Prediction(best=best, entropy=entropy, soft=soft)


def _predict_chunk(hidden: Tensor, embedding: Tensor, cap: float, scale: float) -> tuple[Tensor, Tensor, Tensor]:
    logits = torch.tanh((hidden @ embedding.T).float() / cap) * cap
    null = logits[:, NULL].clone()
    logits[:, :FIRST_NOISE_ID] = -1e9
    logits[:, NULL] = null
    total = torch.logsumexp(logits, -1, keepdim=True)
    probabilities = torch.exp(logits - total)
    entropy = total[:, 0] - (probabilities * logits).sum(-1)
    return logits.argmax(-1), entropy, (probabilities.to(embedding.dtype) @ embedding) * scale


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A canvas in mid-denoising: ids [B, N], and the self-conditioning embeddings of the slots [S, D]."""

    canvas: Tensor
    soft: Tensor


@torch.no_grad()
def make_draft(batch: Batch, prediction: Prediction, embeddings: Tensor, generator: torch.Generator) -> Draft:
    """A later step's input. `embeddings` [V, D] are the scaled token embeddings."""
    slots = batch.slots
    num_canvases = int(batch.owner.max()) + 1
    rows = torch.arange(slots.shape[0], device=slots.device)[:, None].expand_as(slots)
    canvas_of = (rows * num_canvases + batch.owner)[slots]  # [S]
    size = slots.shape[0] * num_canvases
    truth = batch.clean[slots]
    own = torch.rand(size, generator=generator, device=generator.device) < OWN_SHARE
    is_own = own[canvas_of]
    shown_token = torch.where(is_own, prediction.best, truth)
    shown = _within_bound(prediction.entropy, canvas_of, _bounds(size, generator))
    shown_token, shown = _close(shown_token, shown, canvas_of, batch.rank[slots], size)
    fresh = noise(len(truth), embeddings.shape[0], generator)
    canvas = batch.clean.clone()
    canvas[slots] = torch.where(shown, shown_token, fresh)
    sharpened = (shown & ~is_own)[:, None]
    return Draft(canvas=canvas, soft=torch.where(sharpened, embeddings[shown_token], prediction.soft))


def _bounds(size: int, generator: torch.Generator) -> Tensor:
    low, high = torch.tensor([LOWEST_BOUND, HIGHEST_BOUND]).log().tolist()
    return torch.exp(low + (high - low) * torch.rand(size, generator=generator, device=generator.device))


def _within_bound(entropy: Tensor, canvas_of: Tensor, bounds: Tensor) -> Tensor:
    """Of each canvas, the surest slots whose entropies but the last sum to at most its bound; at least one. [S]."""
    order = torch.argsort(entropy)
    order = order[torch.argsort(canvas_of[order], stable=True)]
    ordered, owner = entropy[order].double(), canvas_of[order]
    before = ordered.cumsum(0) - ordered
    is_first = torch.ones_like(owner, dtype=torch.bool)
    is_first[1:] = owner[1:] != owner[:-1]
    base = before[is_first].repeat_interleave(torch.diff(is_first.nonzero()[:, 0], append=owner.new_tensor([len(owner)])))
    shown = torch.empty_like(is_first)
    shown[order] = before - base <= bounds[owner]
    return shown


def _close(token: Tensor, shown: Tensor, canvas_of: Tensor, rank: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """After a shown null there are only nulls, and they are shown."""
    beyond = rank.new_full((size,), 10**6)
    ends = torch.where(shown & (token == NULL), rank, rank.new_tensor(10**6))
    first_null = beyond.scatter_reduce(0, canvas_of, ends, "amin")
    behind = rank > first_null[canvas_of]
    return token.masked_fill(behind, NULL), shown | behind
