"""Canvases in mid-denoising: what may change and what may not, and orders within canvases against a slow way."""

from __future__ import annotations

import pytest
import torch

from midfill_engine.train.canvases import Batch, BatchSampler, CanvasSettings
from midfill_engine.train.drafts import Draft, DraftSettings, _Groups, make_draft, mean_embedding
from midfill_engine.train.windows import FIRST_NOISE_ID, NULL

SETTINGS = CanvasSettings(window=128, positions=256, block=64, slot_counts=(4, 8, 16, 24))
EMBEDDINGS = torch.randn(512, 8, generator=torch.Generator().manual_seed(0))


def drafts(tiny, settings: DraftSettings | None = None, number: int = 5) -> list[tuple[Batch, Draft]]:
    sampler = BatchSampler(tiny.shard, tiny.tokenizer, SETTINGS, seed=4)
    batches = [sampler.draw(3, step) for step in range(number)]
    generator = torch.Generator().manual_seed(7)
    return [(batch, make_draft(batch, EMBEDDINGS, settings or DraftSettings(), generator)) for batch in batches]


def canvases(batch: Batch):
    """Numbers among all slots of each canvas's slots."""
    groups = _Groups(batch)
    for canvas in sorted(set(groups.of.tolist())):
        yield (groups.of == canvas).nonzero()[:, 0]


def test_pinned_places_never_change(tiny) -> None:
    for batch, draft in drafts(tiny):
        assert torch.equal(draft.canvas[~batch.slots], batch.clean[~batch.slots])


def test_an_open_slot_is_noise_about_which_nothing_is_known(tiny) -> None:
    for batch, draft in drafts(tiny):
        tokens = draft.canvas[batch.slots]
        assert bool((tokens[draft.is_open] >= FIRST_NOISE_ID).all())
        assert torch.equal(draft.soft[draft.is_open], mean_embedding(EMBEDDINGS).expand(int(draft.is_open.sum()), -1))
        assert torch.equal(draft.soft[~draft.is_open], EMBEDDINGS[tokens[~draft.is_open]])


def test_a_first_step_is_all_noise(tiny) -> None:
    for _, draft in drafts(tiny):
        assert bool(draft.is_open[draft.is_first].all())
        assert 0.1 < float(draft.is_open[~draft.is_first].float().mean()) < 0.9


def test_locked_tokens_are_true_but_for_a_few_that_count_in_full(tiny) -> None:
    wrong = total = 0
    for batch, draft in drafts(tiny):
        shown = ~draft.is_open
        is_wrong = draft.canvas[batch.slots][shown] != batch.clean[batch.slots][shown]
        assert bool((draft.share[shown][is_wrong] == 1).all())
        assert bool((draft.share[shown][~is_wrong] < 1).all())
        wrong, total = wrong + int(is_wrong.sum()), total + len(is_wrong)
    assert 0 < wrong < 0.1 * total


def test_behind_a_null_there_are_only_nulls(tiny) -> None:
    for batch, draft in drafts(tiny):
        tokens = draft.canvas[batch.slots]
        for members in canvases(batch):
            seen = tokens[members].tolist()
            if NULL in seen:
                assert set(seen[seen.index(NULL) :]) == {NULL}


def test_from_the_left_a_run_of_tokens_is_locked_and_the_length_not_given_away(tiny) -> None:
    for batch, draft in drafts(tiny, DraftSettings(first_share=0.0, left_share=1.0, wrong_share=0.0)):
        for members in canvases(batch):
            is_open = draft.is_open[members].tolist()
            assert is_open == sorted(is_open)
            assert NULL not in draft.canvas[batch.slots][members].tolist()


def test_places_within_a_canvas_equal_a_slow_way(tiny) -> None:
    for batch, _ in drafts(tiny, number=2):
        cost = torch.rand(int(batch.slots.sum()), generator=torch.Generator().manual_seed(9))
        place = _Groups(batch).place(cost)
        for members in canvases(batch):
            ordered = sorted(members.tolist(), key=lambda slot: float(cost[slot]))
            assert [int(place[slot]) for slot in ordered] == list(range(len(ordered)))


def test_shares_must_be_shares() -> None:
    with pytest.raises(ValueError, match=r"0\.8"):
        DraftSettings(first_share=0.8, left_share=0.4)
