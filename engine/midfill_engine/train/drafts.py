"""What a canvas looks like at some step of denoising: some slots locked, the others noise.

A share of the canvases are a first step, all noise. In the others any number of slots, with equal odds, already hold
the truth, from the left or anywhere; now and then a wrong token, so that the model learns to doubt what it is shown.

A locked slot conditions on its own token, as a pinned position does; an open slot on the mean embedding, which says
that nothing is known. So every step is a first step with more pinned, one skill learned in one pass. The denoise loop
must ask likewise (expectations from locked slots only). Training on the expectations of the step before was tried: it
costs a second pass, and after as many examples the model predicted the slot behind a locked one worse (docs/LOG.md).

Shapes: B windows, N canvas positions, S slots in all (flat over the batch), C canvases, V vocabulary, D hidden.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from midfill_engine.train.canvases import Batch
from midfill_engine.train.windows import FIRST_NOISE_ID, NULL


@dataclass(frozen=True, kw_only=True)
class DraftSettings:
    """How far denoising has come, as shares of the canvases, and what counts how much in the loss."""

    first_share: float = 0.35  # all noise
    left_share: float = 0.4  # the leftmost slots are locked; in the rest any slots are
    wrong_share: float = 0.04  # of the locked tokens are wrong
    copy_weight: float = 0.1  # of a locked true token: there is only to copy it
    far_slot: int = 4  # tokens so many slots behind the last known one weigh `far_weight`: little is known so deep
    far_weight: float = 0.35

    def __post_init__(self) -> None:
        if min(self.first_share, self.left_share) < 0 or self.first_share + self.left_share > 1:
            raise ValueError(f"first_share and left_share must be shares, not {self.first_share}, {self.left_share}")


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A canvas in mid-denoising."""

    canvas: Tensor  # [B, N] ids
    soft: Tensor  # [S, D] self-conditioning embeddings of the slots
    share: Tensor  # [S] factors of the loss weights
    is_open: Tensor  # [S] slots that show noise
    is_first: Tensor  # [S] slots of canvases that are all noise


def noise(count: int, vocabulary: int, generator: torch.Generator) -> Tensor:
    """Uniform noise over the ordinary tokens, [count], on the generator's device."""
    return torch.randint(FIRST_NOISE_ID, vocabulary, (count,), generator=generator, device=generator.device)


@torch.no_grad()
def make_draft(batch: Batch, embeddings: Tensor, settings: DraftSettings, generator: torch.Generator) -> Draft:
    """A step's input. `embeddings` [V, D] are the scaled token embeddings."""
    groups = _Groups(batch)
    truth, rank = batch.clean[batch.slots], batch.rank[batch.slots]
    stage = _drawn(groups.count, generator)[groups.of]
    is_first = stage < settings.first_share
    is_left = ~is_first & (stage < settings.first_share + settings.left_share)
    known = _known(groups, truth != NULL, is_left, generator).masked_fill(is_first, 0)
    cost = torch.where(is_left, rank.float(), _drawn(len(rank), generator))
    token, shown = groups.close(truth, groups.place(cost) < known, rank)
    token = _with_mistakes(token, shown, settings.wrong_share, generator)
    canvas = batch.clean.clone()
    canvas[batch.slots] = torch.where(shown, token, noise(len(truth), embeddings.shape[0], generator))
    far = (is_first | is_left) & (truth != NULL) & (rank - known >= settings.far_slot)
    share = torch.where(shown & (token == truth), settings.copy_weight, torch.where(far, settings.far_weight, 1.0))
    return Draft(
        canvas=canvas,
        soft=torch.where(shown[:, None], embeddings[token], mean_embedding(embeddings)),
        share=share,
        is_open=~shown,
        is_first=is_first,
    )


def mean_embedding(embeddings: Tensor) -> Tensor:
    """The expectation where nothing is known, [D]."""
    return embeddings.float().mean(0).to(embeddings.dtype)


def _known(groups: _Groups, is_token: Tensor, is_left: Tensor, generator: torch.Generator) -> Tensor:
    """How many slots are locked, of each slot's canvas, [S]: any number with equal odds. From the left only tokens
    are, not the nulls behind them: the length is not given away."""
    tokens, slots = groups.sum(is_token)[groups.of], groups.sum(torch.ones_like(is_token))[groups.of]
    return (_drawn(groups.count, generator)[groups.of] * (torch.where(is_left, tokens, slots) + 1)).long()


def _with_mistakes(token: Tensor, shown: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Some shown tokens [S] exchanged for tokens from elsewhere in the batch. Nulls are neither taken nor put."""
    if not len(token):
        return token
    other = token[torch.randint(len(token), token.shape, generator=generator, device=token.device)]
    is_wrong = shown & (_drawn(len(token), generator) < share) & (token != NULL) & (other != NULL)
    return torch.where(is_wrong, other, token)


def _drawn(count: int, generator: torch.Generator) -> Tensor:
    """Numbers in [0, 1), [count]."""
    return torch.rand(count, generator=generator, device=generator.device)


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
