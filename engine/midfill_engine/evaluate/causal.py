"""The same weights, left to right: what the encoder and the head fill as a causal model, blind to the suffix.

A yardstick for the diffusion side, and no way to fill that midfill offers. It stops at the end of the line, because
without a suffix it has nothing else to stop at; blocks are therefore answered by their first line.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import torch

from midfill_engine.api import Candidate, Engine, EngineOptions, FillRequest, FillResult, Finish, Timings
from midfill_engine.core import Control, OnProgress
from midfill_engine.filler import Filler
from midfill_engine.local import LocalEngine
from midfill_engine.models.diffusion_gemma import DiffusionGemma
from midfill_engine.models.loading import Loaded, load
from midfill_engine.presets import Preset, find_preset


def open_causal(options: EngineOptions) -> Engine:
    """The preset's model in this process, filling left to right."""
    return LocalEngine(options, load_causal)


def load_causal(options: EngineOptions, on_progress: OnProgress) -> CausalFiller:
    """Load the preset's model (a `core.Load`). Raises PresetError, WeightsError or ResourceError."""
    preset = find_preset(options.preset)
    if options.num_threads:
        torch.set_num_threads(options.num_threads)
    return CausalFiller(preset, load(preset, options.device, on_progress))


class CausalFiller:
    """A `core.FillCore`: greedy, one token a step, the prompt the same as the diffusion side's."""

    def __init__(self, preset: Preset, loaded: Loaded[DiffusionGemma]) -> None:
        self._filler = Filler(preset, loaded)
        self._model = loaded.model
        self._codec = loaded.codec
        self._banned = self._filler.banned.clone()  # [V] bool
        if preset.null_token is not None:
            self._banned[preset.null_token] = True

    @property
    def preset(self) -> str:
        return self._filler.preset

    @property
    def device(self) -> str:
        return self._filler.device

    def fill(self, request: FillRequest, control: Control) -> FillResult:
        began = time.perf_counter()
        with torch.inference_mode():
            prompt = self._filler.plan(replace(request, suffix="")).prompt
            ids = prompt.encoded + prompt.tail
            encoded = self._model.encode(ids[:-1])
            encode_s = time.perf_counter() - began
            tokens, log_probs, finish = self._go_on(ids, request.limits.max_tokens, control)
        text = self._codec.text_of(tokens).partition("\n")[0]
        is_offered = bool(text.strip()) and finish is not Finish.CANCELLED
        total = time.perf_counter() - began
        return FillResult(
            candidates=(Candidate(text=text, confidence=_mean(log_probs)),) if is_offered else (),
            finish=finish if is_offered or finish is Finish.CANCELLED else Finish.EMPTY,
            num_steps=len(tokens),
            num_tokens=len(tokens) if is_offered else 0,
            num_prompt=encoded.num_tokens,
            num_cached=encoded.num_cached,
            timings=Timings(encode=encode_s, denoise=total - encode_s, total=total),
            preset=self.preset,
        )

    def _go_on(self, ids: list[int], max_tokens: int, control: Control) -> tuple[list[int], list[float], Finish]:
        """Tokens behind `ids` up to one with a line break in it, their log-probabilities, and why they ended."""
        tokens: list[int] = []
        log_probs: list[float] = []
        while len(tokens) < max_tokens:
            if control.is_cancelled():
                return tokens, log_probs, Finish.CANCELLED
            if control.deadline is not None and time.monotonic() >= control.deadline:
                return tokens, log_probs, Finish.DEADLINE
            logits = self._model.next_logits(ids + tokens)[-1].masked_fill(self._banned, -math.inf)
            tokens.append(int(logits.argmax()))
            log_probs.append(float(logits.log_softmax(-1)[tokens[-1]]))
            if b"\n" in self._codec.token_bytes[tokens[-1]]:
                return tokens, log_probs, Finish.COMPLETE
        return tokens, log_probs, Finish.LENGTH


def _mean(log_probs: list[float]) -> float:
    """Geometric mean of the probabilities."""
    return math.exp(sum(log_probs) / len(log_probs))
