"""With nothing pinned, equal settings and the same random numbers, our loop is transformers' `generate`."""

from __future__ import annotations

import pytest
import torch
from transformers.models.diffusion_gemma.generation_diffusion_gemma import EntropyBoundSamplerConfig

from midfill_engine.denoise.loop import Policy, denoise
from midfill_engine.denoise.noise import UniformNoise
from midfill_engine.denoise.schedule import LinearTemperature
from midfill_engine.denoise.stop import StableAndConfident
from midfill_engine.models.diffusion_gemma import DiffusionGemma
from support.tiny import CONFIGS, tiny_model

NUM_SEEDS = 50
NUM_CANVASES = 2
STEPS, T_MIN, T_MAX = 6, 0.3, 0.7
# entropy bound, confidence, stability: tight ones run to the step cap, loose ones stop early on some seeds
SETTINGS = ((0.1, 0.005, 1), (30.0, 2.6, 0), (2.0, 3.0, 0))


def theirs(model, prompt: list[int], seed: int, settings: tuple[float, float, int]) -> list[int]:
    bound, confidence, stability = settings
    torch.manual_seed(seed)
    output = model.generate(
        torch.tensor([prompt]),
        max_new_tokens=NUM_CANVASES * model.config.canvas_length,
        sampler_config=EntropyBoundSamplerConfig(entropy_bound=bound),
        confidence_threshold=confidence,
        eos_token_id=None,
        pad_token_id=None,
        stability_threshold=stability,
        max_denoising_steps=STEPS,
        t_min=T_MIN,
        t_max=T_MAX,
    )
    return output.sequences[0, len(prompt) :].tolist()


def ours(engine: DiffusionGemma, prompt: list[int], seed: int, canvas: int, settings: tuple[float, float, int]):
    bound, confidence, stability = settings
    generator = torch.Generator().manual_seed(seed)
    policy = Policy(
        noise=UniformNoise(last=engine.vocab_size - 1),
        max_steps=STEPS,
        entropy_bound=bound,
        schedule=LinearTemperature(t_min=T_MIN, t_max=T_MAX),
        stop=StableAndConfident(stability=stability, confidence=confidence),
    )
    out: list[int] = []
    steps: list[int] = []
    for _ in range(NUM_CANVASES):
        engine.encode(prompt + out)
        ids = torch.zeros(1, canvas, dtype=torch.long)
        (row,) = denoise(engine, ids, slice(0, canvas), policy, [generator])
        out += row.tokens
        steps.append(row.num_steps)
    return out, steps


@pytest.mark.parametrize("name", CONFIGS)
def test_same_tokens_as_generate(name: str) -> None:
    """Mixture of several experts and a prompt longer than the sliding window among them; some rows stop early."""
    config = CONFIGS[name]
    model = tiny_model(config)
    reference = tiny_model(config)
    engine = DiffusionGemma(model)
    prompt = torch.randint(3, config.text_config.vocab_size, (21,), generator=torch.Generator().manual_seed(5)).tolist()
    seen_steps: set[int] = set()
    for seed in range(NUM_SEEDS):
        settings = SETTINGS[seed % len(SETTINGS)]
        want = theirs(reference, prompt, seed, settings)
        got, steps = ours(engine, prompt, seed, config.canvas_length, settings)
        assert got == want, f"seed {seed}"
        seen_steps.update(steps)
    assert len(seen_steps) > 1, "adaptive stopping never showed: the settings prove nothing"
