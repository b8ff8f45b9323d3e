"""What a canvas looks like after some denoising steps: made from the model's own first pass, as inference would.

Some slots are shown, the others hold fresh noise. Most canvases show the truth, any share of it with equal odds, so
that the model learns to build on what is right; which slots come first is drawn: those of which the first pass was
surest (as inference locks them), those on the left, or any. The other canvases show what the model itself was sure of,
right or wrong, as many slots as an entropy bound lets through, so that it learns to mend its mistakes.

The self-conditioning signal is the first pass's expectation, sharpened to the shown token where the truth is shown: a
token that was locked had nearly all the probability.

Shapes: B windows, N canvas positions, S slots in all (flat over the batch), C canvases, V vocabulary, D hidden.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from midfill_engine.train.canvases import Batch
from midfill_engine.train.windows import FIRST_NOISE_ID, NULL

LOWEST_BOUND, HIGHEST_BOUND = 0.05, 6.0  # of the entropy bound, nats; drawn log-uniformly for each canvas
OWN_SHARE = 0.25  # of the canvases show the model's own predictions
SUREST_SHARE, LEFT_SHARE = 0.4, 0.35  # of the others show the surest slots first, or the leftmost; the rest any
COPY_WEIGHT = 0.15  # of the loss where the truth is shown: there is only to copy it
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
    parts = [_predict_chunk(part, embedding, cap, scale) for part in torch.split(hidden, CHUNK)]
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
    """A canvas in mid-denoising."""

    canvas: Tensor  # [B, N] ids
    soft: Tensor  # [S, D] self-conditioning embeddings of the slots
    share: Tensor  # [S] factors of the loss weights


@torch.no_grad()
def make_draft(batch: Batch, prediction: Prediction, embeddings: Tensor, generator: torch.Generator) -> Draft:
    """A later step's input. `embeddings` [V, D] are the scaled token embeddings."""
    groups = _Groups(batch)
    truth, rank = batch.clean[batch.slots], batch.rank[batch.slots]
    is_own = _drawn(groups, generator)[groups.of] < OWN_SHARE
    by_bound = groups.within_bound(prediction.entropy, _bounds(groups.count, generator))
    by_count = _any_share(groups, prediction.entropy, rank, truth != NULL, generator)
    token = torch.where(is_own, prediction.best, truth)
    token, shown = groups.close(token, torch.where(is_own, by_bound, by_count), rank)
    canvas = batch.clean.clone()
    canvas[batch.slots] = torch.where(shown, token, noise(len(truth), embeddings.shape[0], generator))
    is_given = shown & ~is_own
    return Draft(
        canvas=canvas,
        soft=torch.where(is_given[:, None], embeddings[token], prediction.soft),
        share=torch.where(is_given, COPY_WEIGHT, 1.0),
    )


def _any_share(groups: _Groups, entropy: Tensor, rank: Tensor, is_token: Tensor, generator: torch.Generator) -> Tensor:
    """Slots [S] to show of each canvas: any number with equal odds, in one of three orders. From the left, the length
    is never given away: only tokens are shown, not the nulls behind them."""
    order_of = _drawn(groups, generator)[groups.of]
    is_left = (order_of >= SUREST_SHARE) & (order_of < SUREST_SHARE + LEFT_SHARE)
    scattered = torch.rand(len(rank), generator=generator, device=rank.device)
    cost = torch.where(order_of < SUREST_SHARE, entropy, scattered)
    cost = torch.where(is_left, rank.to(cost.dtype), cost)
    size = torch.where(is_left, groups.sum(is_token)[groups.of], groups.sum(torch.ones_like(is_token))[groups.of])
    number = (_drawn(groups, generator)[groups.of] * (size + 1)).long()
    return groups.place(cost) < number


def _drawn(groups: _Groups, generator: torch.Generator) -> Tensor:
    """A number in [0, 1) for each canvas, [C]."""
    return torch.rand(groups.count, generator=generator, device=generator.device)


def _bounds(size: int, generator: torch.Generator) -> Tensor:
    low, high = math.log(LOWEST_BOUND), math.log(HIGHEST_BOUND)
    return torch.exp(low + (high - low) * torch.rand(size, generator=generator, device=generator.device))


class _Groups:
    """Which canvas each slot of a batch belongs to, and sums, orders and ends within a canvas."""

    def __init__(self, batch: Batch) -> None:
        each = max(int(batch.owner.max()) + 1, 1)
        rows = torch.arange(batch.slots.shape[0], device=batch.slots.device)[:, None]
        self.of = (rows * each + batch.owner)[batch.slots]  # [S]
        self.count = batch.slots.shape[0] * each

    def sum(self, values: Tensor) -> Tensor:
        """Of each canvas, [C]."""
        return torch.zeros(self.count, dtype=torch.long, device=values.device).index_add_(0, self.of, values.long())

    def place(self, cost: Tensor) -> Tensor:
        """The place of each slot in its canvas when that is sorted by cost, [S]."""
        order, base = self._sorted(cost)
        place = torch.empty_like(order)
        place[order] = torch.arange(len(order), device=order.device) - base
        return place

    def within_bound(self, entropy: Tensor, bounds: Tensor) -> Tensor:
        """The surest slots whose entropies but the last sum to at most the canvas's bound [C]; at least one. [S]."""
        order, base = self._sorted(entropy)
        ordered = entropy[order].double()
        before = ordered.cumsum(0) - ordered
        shown = torch.empty_like(order, dtype=torch.bool)
        shown[order] = before - before[base] <= bounds[self.of[order]]
        return shown

    def close(self, token: Tensor, shown: Tensor, rank: Tensor) -> tuple[Tensor, Tensor]:
        """After a shown null there are only nulls, and they are shown."""
        never = 10**6
        ends = torch.where(shown & (token == NULL), rank, never)
        end = rank.new_full((self.count,), never).scatter_reduce(0, self.of, ends, "amin")
        behind = rank > end[self.of]
        return token.masked_fill(behind, NULL), shown | behind

    def _sorted(self, cost: Tensor) -> tuple[Tensor, Tensor]:
        """Slots by canvas, then by cost, and where in this order each one's canvas begins; [S] both."""
        order = torch.argsort(cost)
        order = order[torch.argsort(self.of[order], stable=True)]
        owner = self.of[order]
        is_first = torch.ones_like(owner, dtype=torch.bool)
        is_first[1:] = owner[1:] != owner[:-1]
        firsts = is_first.nonzero()[:, 0]
        sizes = torch.diff(firsts, append=firsts.new_tensor([len(owner)]))
        return order, firsts.repeat_interleave(sizes)
