"""The few-and-large way of running a dense model gives what the class's modules give."""

from __future__ import annotations

import random

import pytest
import torch

from midfill_engine.denoise.loop import LastStep
from midfill_engine.models.dense import DenseStack, fits_dense_stack
from midfill_engine.models.diffusion_gemma import DiffusionGemma, FirstSignal
from support.tiny import CONFIGS, tiny_config, tiny_model

DENSE = {name: config for name, config in CONFIGS.items() if config.text_config.num_experts == 1} | {
    "one kv head": tiny_config(kv_heads=1, window=8)
}


def strange_model(config):
    """Norm scales, router scales and layer scalars away from 1, so that forgetting to fold one shows."""
    model = tiny_model(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1 and "vision" not in name:
                parameter.uniform_(0.5, 1.5)
        stacks = (model.model.encoder.language_model, model.model.decoder)
        for number, stack in enumerate(stacks):
            for i, layer in enumerate(stack.layers):
                layer.layer_scalar.fill_(0.8 + 0.1 * i + 0.05 * number)
    return model


@pytest.mark.parametrize("name", DENSE)
@pytest.mark.parametrize("batch", [1, 3])
def test_same_logits_as_the_modules(name: str, batch: int) -> None:
    """Whatever is typed and deleted in between, past the sliding window too, and for batches."""
    config = DENSE[name]
    model = strange_model(config)
    assert fits_dense_stack(model)
    dense = DiffusionGemma(model, FirstSignal.MEAN, DenseStack(model))
    plain = DiffusionGemma(model, FirstSignal.MEAN)
    rng = random.Random(1)
    ids = [rng.randrange(3, 97) for _ in range(40)]
    previous = torch.randn(batch, 6, 97)
    for step in range(12):
        torch.manual_seed(step)
        canvas = torch.randint(3, 97, (batch, config.canvas_length))
        assert dense.encode(ids) == plain.encode(ids)
        for logits in (None, LastStep(previous, torch.zeros(batch, 6, dtype=torch.bool))):
            got, want = dense.slot_logits(canvas, slice(2, 8), logits), plain.slot_logits(canvas, slice(2, 8), logits)
            torch.testing.assert_close(got, want, atol=2e-4, rtol=1e-4)
        keep = rng.randint(1, len(ids))
        ids = ids[:keep] + [rng.randrange(3, 97) for _ in range(rng.randint(0, 60))]


def test_causal_logits_agree() -> None:
    model = strange_model(DENSE["dense"])
    ids = list(range(3, 90))
    dense, plain = DiffusionGemma(model, stack=DenseStack(model)), DiffusionGemma(model)
    torch.testing.assert_close(dense.next_logits(ids), plain.next_logits(ids), atol=2e-4, rtol=1e-4)


def test_bfloat16_products_stay_near() -> None:
    """Half the bits in the products, full ones in sums and norms: the distributions hardly move."""
    model = strange_model(DENSE["dense"])
    half = DiffusionGemma(model, FirstSignal.MEAN, DenseStack(model, torch.bfloat16))
    plain = DiffusionGemma(model, FirstSignal.MEAN)
    ids = list(range(3, 50))
    canvas = torch.randint(3, 97, (1, 12), generator=torch.Generator().manual_seed(0))
    half.encode(ids)
    plain.encode(ids)
    got, want = half.slot_logits(canvas, slice(2, 9), None), plain.slot_logits(canvas, slice(2, 9), None)
    assert float((got.softmax(-1) - want.softmax(-1)).abs().sum(-1).max()) < 0.2


def test_experts_and_biases_are_left_to_the_modules() -> None:
    assert not fits_dense_stack(tiny_model(CONFIGS["moe"]))
