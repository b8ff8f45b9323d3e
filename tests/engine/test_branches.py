"""Rows that go on behind one prefix: each sees what a sequence of its own would."""

from __future__ import annotations

import random

import pytest
import torch

from midfill_engine.models.dense import DenseStack, fits_dense_stack
from midfill_engine.models.diffusion_gemma import DiffusionGemma
from support.tiny import CONFIGS, tiny_model

NUM_ROWS = 3


def engines(name: str) -> list[DiffusionGemma]:
    model = tiny_model(CONFIGS[name])
    plain = [DiffusionGemma(model)]
    return [*plain, DiffusionGemma(model, stack=DenseStack(model))] if fits_dense_stack(model) else plain


@pytest.mark.parametrize("name", CONFIGS)
def test_a_row_sees_what_a_sequence_of_its_own_would(name: str) -> None:
    """Grown in pieces, with rows going on from other rows, within the sliding window and past it."""
    fresh = DiffusionGemma(tiny_model(CONFIGS[name]))
    rng = random.Random(5)
    for engine in engines(name):
        for length in (1, 6, 90):
            ids = [rng.randrange(3, 97) for _ in range(length)]
            rows: list[list[int]] = [[] for _ in range(NUM_ROWS)]
            engine.branch(ids, NUM_ROWS, room=14)
            for size in (1, 4, 1, 7, 1):
                parents = [rng.randrange(NUM_ROWS) for _ in rows]
                fed = [[rng.randrange(3, 97) for _ in range(size)] for _ in rows]
                rows = [rows[parent] + new for parent, new in zip(parents, fed, strict=True)]
                got = engine.branch_logits(torch.tensor(fed), torch.tensor(parents))
                for row, own in zip(got, rows, strict=True):
                    fresh.forget()
                    torch.testing.assert_close(row, fresh.next_logits(ids + own)[-size:], atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("name", CONFIGS)
def test_the_prefix_stays_as_it_is(name: str) -> None:
    """What was encoded before rows went on from it needs no encoding after, and is what it was."""
    for engine in engines(name):
        ids = list(range(3, 60))
        canvas = torch.randint(3, 97, (1, 9), generator=torch.Generator().manual_seed(0))
        engine.encode(ids)
        want = engine.slot_logits(canvas, slice(2, 7), None)
        engine.branch(ids, NUM_ROWS, room=5)
        engine.branch_logits(torch.randint(3, 97, (NUM_ROWS, 5), generator=torch.Generator().manual_seed(1)))
        assert engine.encode(ids).num_cached == len(ids)
        torch.testing.assert_close(engine.slot_logits(canvas, slice(2, 7), None), want)
