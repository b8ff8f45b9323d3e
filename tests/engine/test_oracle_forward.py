"""Our passes around the class's modules give what the class's own forward gives."""

from __future__ import annotations

import pytest
import torch

from midfill_engine.denoise.loop import LastStep
from midfill_engine.models.diffusion_gemma import Conditioning, DiffusionGemma, FirstSignal
from support.tiny import CONFIGS, tiny_model

PROMPT = list(range(3, 60))


def random_canvas(config, batch: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, config.text_config.vocab_size, (batch, config.canvas_length), generator=generator)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("has_logits", [False, True])
def test_slot_logits_are_the_class_forward(name: str, has_logits: bool) -> None:
    """Slots in the middle of the canvas, pinned tokens around them shown to self-conditioning as one-hot logits."""
    config = CONFIGS[name]
    slots = slice(3, 8)
    canvas = random_canvas(config, 2)
    previous = torch.randn(2, 5, config.text_config.vocab_size, generator=torch.Generator().manual_seed(1)) * 3
    conditioning = torch.full((2, config.canvas_length, config.text_config.vocab_size), float("-inf"))
    conditioning.scatter_(-1, canvas[..., None], 0.0)
    conditioning[:, slots] = previous
    last = LastStep(previous, torch.zeros(2, 5, dtype=torch.bool))
    engine = DiffusionGemma(tiny_model(config), FirstSignal.ZERO)
    with torch.no_grad():
        want = tiny_model(config)(
            input_ids=torch.tensor([PROMPT, PROMPT]),
            decoder_input_ids=canvas,
            self_conditioning_logits=conditioning if has_logits else None,
        ).logits[:, slots]
    engine.encode(PROMPT)
    got = engine.slot_logits(canvas, slots, last if has_logits else None)
    torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", CONFIGS)
def test_first_signal_mean_is_even_odds(name: str) -> None:
    """Before the first step a slot shows what uniform logits would: the class computes that with a softmax of zeros."""
    config = CONFIGS[name]
    slots = slice(2, 9)
    canvas = random_canvas(config, 1)
    conditioning = torch.full((1, config.canvas_length, config.text_config.vocab_size), float("-inf"))
    conditioning.scatter_(-1, canvas[..., None], 0.0)
    conditioning[:, slots] = 0.0
    with torch.no_grad():
        want = tiny_model(config)(
            input_ids=torch.tensor([PROMPT]), decoder_input_ids=canvas, self_conditioning_logits=conditioning
        ).logits[:, slots]
    engine = DiffusionGemma(tiny_model(config), FirstSignal.MEAN)
    engine.encode(PROMPT)
    torch.testing.assert_close(engine.slot_logits(canvas, slots, None), want, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", CONFIGS)
def test_next_logits_are_the_encoder_as_a_causal_model(name: str) -> None:
    config = CONFIGS[name]
    reference = tiny_model(config)
    with torch.no_grad():
        hidden = reference.model.encoder(input_ids=torch.tensor([PROMPT])).last_hidden_state
        want = reference.lm_head(hidden)[0]
        want = torch.tanh(want / reference.final_logit_softcapping) * reference.final_logit_softcapping
    engine = DiffusionGemma(tiny_model(config))
    engine.encode(PROMPT[:17])
    got = engine.next_logits(PROMPT)
    torch.testing.assert_close(got, want[17:], atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match="at least one token"):
        engine.next_logits(PROMPT)


def test_locked_conditioning_is_a_first_step_with_more_pinned() -> None:
    """A locked slot shows what it would show if it were pinned, an open one what it shows at the first step."""
    config = CONFIGS["dense"]
    engine = DiffusionGemma(tiny_model(config), FirstSignal.MEAN, conditioning=Conditioning.LOCKED)
    engine.encode(PROMPT)
    canvas = random_canvas(config, 1)
    is_locked = torch.tensor([[True, True, False, False, False]])
    logits = torch.randn(1, 5, config.text_config.vocab_size)
    got = engine.slot_logits(canvas, slice(3, 8), LastStep(logits, is_locked))[:, 2:]
    torch.testing.assert_close(got, engine.slot_logits(canvas, slice(5, 8), None))
