"""A fill whose prefix is partly cached equals a fresh one, whatever the user did in between."""

from __future__ import annotations

import random

import pytest
import torch

from midfill_engine.models.diffusion_gemma import DiffusionGemma
from support.tiny import CONFIGS, tiny_model

VOCAB = 97


def edited(rng: random.Random, ids: list[int]) -> list[int]:
    """What a keystroke, a deletion, a jump or a paste leaves of a prompt."""
    kind = rng.choice(["type", "delete", "jump", "replace", "paste", "same"])
    if kind == "type":
        return [*ids, rng.randrange(3, VOCAB)]
    if kind == "delete":
        return ids[: max(1, len(ids) - rng.randint(1, 5))]
    if kind == "jump":
        return ids[: rng.randint(1, len(ids))]
    if kind == "replace":
        at = rng.randrange(len(ids))
        return [*ids[:at], rng.randrange(3, VOCAB), *ids[at + 1 :]]
    if kind == "paste":
        return ids + [rng.randrange(3, VOCAB) for _ in range(rng.randint(2, 40))]
    return list(ids)


@pytest.mark.parametrize("name", CONFIGS)
def test_reused_cache_equals_fresh(name: str) -> None:
    """Typing, deleting, jumping, editing far back, pasting; prompts grow well past the sliding window (8 and 64)."""
    config = CONFIGS[name]
    kept, fresh = DiffusionGemma(tiny_model(config)), DiffusionGemma(tiny_model(config))
    rng = random.Random(7)
    ids = [rng.randrange(3, VOCAB) for _ in range(90)]
    slots = slice(2, 7)
    reused = 0
    for step in range(60):
        canvas = torch.randint(3, VOCAB, (1, config.canvas_length), generator=torch.Generator().manual_seed(step))
        encoded = kept.encode(ids)
        reused += encoded.num_cached
        fresh.forget()
        assert fresh.encode(ids).num_cached == 0
        got, want = kept.slot_logits(canvas, slots, None), fresh.slot_logits(canvas, slots, None)
        torch.testing.assert_close(got, want, atol=1e-4, rtol=0)
        ids = edited(rng, ids)[:300]
    assert reused > 0


def test_editing_the_suffix_encodes_nothing() -> None:
    """The suffix lives in the canvas: the encoder has nothing to do, and the logits are those of a fresh fill."""
    config = CONFIGS["short-window"]
    kept, fresh = DiffusionGemma(tiny_model(config)), DiffusionGemma(tiny_model(config))
    ids = list(range(3, 60))
    kept.encode(ids)
    for suffix in ([5, 6, 7], [80, 6, 7], [1, 1, 1]):
        canvas = torch.tensor([[10, 11, 50, 51, 52, 53, 54, *suffix]])
        assert kept.encode(ids).num_cached == len(ids)
        fresh.forget()
        fresh.encode(ids)
        got = kept.slot_logits(canvas, slice(2, 7), None)
        torch.testing.assert_close(got, fresh.slot_logits(canvas, slice(2, 7), None), atol=1e-4, rtol=0)


def test_batches_of_different_size_share_one_prefix() -> None:
    """Rows read the cache without copying it: a batch of three sees what each row sees alone."""
    config = CONFIGS["dense"]
    engine = DiffusionGemma(tiny_model(config))
    engine.encode(list(range(3, 40)))
    canvas = torch.randint(3, VOCAB, (3, config.canvas_length), generator=torch.Generator().manual_seed(1))
    together = engine.slot_logits(canvas, slice(1, 9), None)
    for row in range(3):
        alone = engine.slot_logits(canvas[row : row + 1], slice(1, 9), None)
        torch.testing.assert_close(together[row : row + 1], alone, atol=1e-5, rtol=1e-5)


def test_long_prompts_are_encoded_in_pieces() -> None:
    """A prompt longer than one encoder pass takes gives the same logits as one encoded bit by bit."""
    config = CONFIGS["short-window"]
    whole, bits = DiffusionGemma(tiny_model(config)), DiffusionGemma(tiny_model(config))
    ids = [3 + i % 90 for i in range(1500)]
    whole.encode(ids)
    for end in (1, 2, 700, 701, 1500):
        bits.encode(ids[:end])
    canvas = torch.randint(3, VOCAB, (1, config.canvas_length), generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(
        whole.slot_logits(canvas, slice(0, 9), None), bits.slot_logits(canvas, slice(0, 9), None), atol=1e-4, rtol=0
    )
