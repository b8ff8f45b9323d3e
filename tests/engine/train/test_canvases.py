"""What every batch of examples keeps: pinned text is the file's text, slots decode back to the middle."""

from __future__ import annotations

import pytest
import torch

from midfill_engine.train.canvases import Batch, BatchSampler, CanvasSettings, visible
from midfill_engine.train.windows import BOS, FILE, NULL

SETTINGS = CanvasSettings(window=128, positions=256, block=64, slot_counts=(4, 8, 16, 24))


def batches(tiny, number: int = 6) -> list[Batch]:
    sampler = BatchSampler(tiny.shard, tiny.tokenizer, SETTINGS, seed=3)
    return [sampler.draw(3, step) for step in range(number)]


def canvases(batch: Batch):
    """(row, places) of each canvas."""
    for row in range(batch.owner.shape[0]):
        for owner in sorted(set(batch.owner[row].tolist()) - {-1}):
            yield row, (batch.owner[row] == owner).nonzero()[:, 0]


def test_tail_middle_and_head_join_to_the_file_behind_the_encoder(tiny) -> None:
    count = 0
    for batch in batches(tiny):
        for row, places in canvases(batch):
            seen = int(batch.seen[row, places[0]])
            before = [token for token in batch.encoder[row, :seen].tolist() if token not in (BOS, FILE)]
            inside = [token for token in batch.clean[row, places].tolist() if token != NULL]
            joined = tiny.tokenizer.decode(before) + tiny.tokenizer.decode(inside)
            assert any(joined in text for text in tiny.texts)
            count += 1
    assert count > 100


def test_slots_are_one_run_that_ends_in_nulls(tiny) -> None:
    for batch in batches(tiny):
        for row, places in canvases(batch):
            slots = batch.slots[row, places]
            numbers = slots.nonzero()[:, 0]
            assert len(numbers) in SETTINGS.slot_counts
            assert int(numbers[-1] - numbers[0]) + 1 == len(numbers)
            assert batch.rank[row, places][slots].tolist() == list(range(len(numbers)))
            is_null = (batch.clean[row, places][slots] == NULL).tolist()
            assert is_null == sorted(is_null)
            assert NULL not in batch.clean[row, places][~slots].tolist()


def test_the_first_null_counts_in_full_and_pinned_places_not_at_all(tiny) -> None:
    for batch in batches(tiny):
        assert float(batch.weight[~batch.slots].abs().sum()) == 0
        for row, places in canvases(batch):
            is_null = (batch.clean[row, places] == NULL).nonzero()[:, 0]
            if len(is_null):
                assert float(batch.weight[row, places[is_null[0]]]) == 1


def test_positions_continue_the_encoder_and_canvases_stay_in_their_block(tiny) -> None:
    for batch in batches(tiny):
        for row, places in canvases(batch):
            seen = int(batch.seen[row, places[0]])
            assert batch.positions[row, places].tolist() == list(range(seen, seen + len(places)))
            block = int(places[0]) // SETTINGS.block
            assert int(places[-1]) // SETTINGS.block == block
            assert seen <= visible(block, SETTINGS.positions // SETTINGS.block, SETTINGS.window)


def test_masks_allow_the_prefix_before_a_canvas_and_the_canvas_itself(tiny) -> None:
    batch = batches(tiny, 1)[0]
    for block, mask in enumerate(batch.masks(torch.float32)):
        own = slice(block * SETTINGS.block, (block + 1) * SETTINGS.block)
        prefix = mask.shape[-1] - SETTINGS.block
        for row in range(mask.shape[0]):
            allowed = mask[row, 0] == 0
            assert torch.equal(allowed[:, :prefix], torch.arange(prefix) < batch.seen[row, own, None])
            owner = batch.owner[row, own]
            assert torch.equal(allowed[:, prefix:], owner[:, None] == owner[None])


def test_a_batch_depends_on_seed_and_step_alone(tiny) -> None:
    sampler = BatchSampler(tiny.shard, tiny.tokenizer, SETTINGS, seed=3)
    first = sampler.draw(2, 5)
    sampler.draw(2, 6)
    assert torch.equal(sampler.draw(2, 5).clean, first.clean)
    assert not torch.equal(sampler.draw(2, 7).clean, first.clean)


@pytest.mark.parametrize("wrong", [{"block": 32}, {"positions": 100}, {"slot_counts": (8, 4)}])
def test_impossible_settings_say_what_is_wrong(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        CanvasSettings(**wrong)
