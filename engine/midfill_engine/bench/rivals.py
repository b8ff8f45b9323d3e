"""Other ways to a middle from the same weights: transformers' `generate` with pins, and one token after another."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import DiffusionGemmaForBlockDiffusion, LogitsProcessor, LogitsProcessorList
from transformers.models.diffusion_gemma.generation_diffusion_gemma import EntropyBoundSamplerConfig

from midfill_engine.models.diffusion_gemma import DiffusionGemma
from midfill_engine.presets import Preset
from midfill_engine.prompt import Prompt

_ALMOST_GREEDY = 1e-3  # generate's temperatures must differ and be above 0


class Pin(LogitsProcessor):  # type: ignore[misc]  # transformers is untyped
    """Forces the pinned positions' logits to their token and bans the rest of what may not stand in a slot."""

    def __init__(self, canvas: Tensor, is_pinned: Tensor, banned: Tensor) -> None:
        self._canvas, self._is_pinned, self._banned = canvas, is_pinned, banned

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        scores = scores.masked_fill(self._banned, float("-inf"))
        one_hot = torch.full_like(scores, float("-inf")).scatter(-1, self._canvas[..., None], 0.0)
        return torch.where(self._is_pinned[..., None], one_hot, scores)


class Generate:
    """What a user of transformers gets: the class as loaded, its own loop, a processor that pins."""

    def __init__(self, preset: Preset, banned: Tensor) -> None:
        self._model = DiffusionGemmaForBlockDiffusion.from_pretrained(
            str(preset.source), dtype=torch.float32, local_files_only=True
        ).eval()
        self._model.config.image_token_id = -1  # generate compares with it, so None will not do
        self._preset = preset
        self._banned = banned

    def fill(self, prompt: Prompt, num_slots: int, seed: int) -> list[int]:
        """The slots' tokens of one pinned canvas."""
        tail, head = prompt.tail, prompt.head
        canvas = torch.tensor([tail + [0] * num_slots + head])
        is_pinned = torch.ones_like(canvas, dtype=torch.bool)
        is_pinned[:, len(tail) : len(tail) + num_slots] = False
        start = canvas.clone()
        noise = torch.randint(
            self._preset.first_noise_id, len(self._banned), (num_slots,), generator=torch.Generator().manual_seed(seed)
        )
        start[0, len(tail) : len(tail) + num_slots] = noise
        self._model.config.canvas_length = canvas.shape[1]
        torch.manual_seed(seed)
        output = self._model.generate(
            torch.tensor([prompt.encoded]),
            decoder_input_ids=start,
            logits_processor=LogitsProcessorList([Pin(canvas, is_pinned, self._banned)]),
            max_new_tokens=canvas.shape[1],
            max_denoising_steps=self._preset.max_steps,
            sampler_config=EntropyBoundSamplerConfig(entropy_bound=float(self._preset.entropy_bound)),
            t_min=_ALMOST_GREEDY,
            t_max=2 * _ALMOST_GREEDY,
            stability_threshold=self._preset.stability,
            confidence_threshold=float(self._preset.confidence),
            eos_token_id=None,
            pad_token_id=None,
        )
        first = len(prompt.encoded) + len(tail)
        tokens: list[int] = output.sequences[0, first : first + num_slots].tolist()
        return tokens


class LeftToRight:
    """The encoder and the head as a causal model, with the same cache and the same kernels as our denoiser."""

    def __init__(self, model: DiffusionGemma, banned: Tensor) -> None:
        self._model = model
        self._banned = banned

    def fill(self, prompt: Prompt, num_tokens: int) -> list[int]:
        """`num_tokens` greedy tokens after the prompt, blind to the suffix."""
        ids = prompt.encoded + prompt.tail
        start = len(ids)
        self._model.encode(ids[:-1])
        while len(ids) < start + num_tokens:
            logits = self._model.next_logits(ids)[-1]
            ids = [*ids, int(logits.masked_fill(self._banned, float("-inf")).argmax())]
        return ids[start:]
