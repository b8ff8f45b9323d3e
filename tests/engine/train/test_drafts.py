"""Canvases in mid-denoising: what may change and what may not, and the sums within canvases against a slow way."""

from __future__ import annotations

import torch

from midfill_engine.train.canvases import Batch, BatchSampler, CanvasSettings
from midfill_engine.train.drafts import Draft, Prediction, _Groups, make_draft
from midfill_engine.train.windows import NULL

SETTINGS = CanvasSettings(window=128, positions=256, block=64, slot_counts=(4, 8, 16, 24))


def drafts(tiny, number: int = 5) -> list[tuple[Batch, Prediction, Draft]]:
    sampler = BatchSampler(tiny.shard, tiny.tokenizer, SETTINGS, seed=4)
    made = []
    for step in range(number):
        batch = sampler.draw(3, step)
        generator = torch.Generator().manual_seed(step)
        count = int(batch.slots.sum())
        prediction = Prediction(
            best=torch.where(
                torch.rand(count, generator=generator) < 0.3,
                NULL,
                torch.randint(16, 512, (count,), generator=generator),
            ),
            entropy=3 * torch.rand(count, generator=generator),
            soft=torch.randn(count, 8, generator=generator),
        )
        embeddings = torch.randn(512, 8, generator=generator)
        made.append((batch, prediction, make_draft(batch, prediction, embeddings, generator)))
    return made


def test_pinned_places_never_change(tiny) -> None:
    for batch, _, draft in drafts(tiny):
        assert torch.equal(draft.canvas[~batch.slots], batch.clean[~batch.slots])


def test_a_given_truth_is_the_truth_and_conditions_on_itself(tiny) -> None:
    for batch, prediction, draft in drafts(tiny):
        given = draft.share < 1
        assert torch.equal(draft.canvas[batch.slots][given], batch.clean[batch.slots][given])
        assert torch.equal(draft.soft[~given], prediction.soft[~given])
        assert 0.1 < float(given.float().mean()) < 0.8


def test_behind_a_null_there_are_only_nulls(tiny) -> None:
    for batch, _, draft in drafts(tiny):
        for row in range(batch.owner.shape[0]):
            for owner in set(batch.owner[row].tolist()) - {-1}:
                tokens = draft.canvas[row][(batch.owner[row] == owner) & batch.slots[row]].tolist()
                if NULL in tokens:
                    assert set(tokens[tokens.index(NULL) :]) == {NULL}


def test_orders_and_bounds_equal_a_slow_way(tiny) -> None:
    for batch, prediction, _ in drafts(tiny, 2):
        groups = _Groups(batch)
        bounds = 4 * torch.rand(groups.count, generator=torch.Generator().manual_seed(9))
        place, shown = groups.place(prediction.entropy), groups.within_bound(prediction.entropy, bounds)
        for canvas in set(groups.of.tolist()):
            members = (groups.of == canvas).nonzero()[:, 0].tolist()
            members.sort(key=lambda slot: float(prediction.entropy[slot]))
            spent = 0.0
            for number, slot in enumerate(members):
                assert int(place[slot]) == number
                assert bool(shown[slot]) == (spent <= float(bounds[canvas]))
                spent += float(prediction.entropy[slot])
