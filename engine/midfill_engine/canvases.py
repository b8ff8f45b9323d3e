"""What every fill of a loaded model shares: the prompt, what may stand in a slot, the policy, and the denoising itself.

Sizes are those of the preset, halved as often as memory ran short.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from midfill_engine.api import FillRequest, Mode
from midfill_engine.context import Surroundings
from midfill_engine.core import Control
from midfill_engine.denoise.constraint import Banned, Constraint
from midfill_engine.denoise.length import FixedLength, Length, NullLength
from midfill_engine.denoise.loop import Interrupts, Policy, Row, Slots, StepView, denoise
from midfill_engine.denoise.noise import UniformNoise
from midfill_engine.denoise.schedule import LinearTemperature
from midfill_engine.denoise.stop import StableAndConfident
from midfill_engine.heal import Healing
from midfill_engine.models.base import BlockModel
from midfill_engine.models.loading import Loaded
from midfill_engine.presets import Preset
from midfill_engine.prompt import Prompt, PromptShape, build_prompt
from midfill_engine.thrift import Thrift
from midfill_engine.together import Sizes

EXPLORE = LinearTemperature(t_min=0.4, t_max=0.8)
"""For further candidates of a greedy preset: DiffusionGemma's own range."""


class Canvases:
    """Canvases of one loaded model."""

    def __init__(self, preset: Preset, loaded: Loaded[BlockModel]) -> None:
        self.preset = preset
        self.model = loaded.model
        self.codec = loaded.codec
        self.thrift = Thrift()
        self._shape = PromptShape(
            context=preset.context,
            tail=preset.tail,
            head=preset.head,
            bos=loaded.bos,
            file=preset.file_token,
            snippet_tokens=preset.snippet_tokens,
            far_suffix_tokens=preset.far_suffix_tokens,
            head_tokens=preset.head_tokens,
            wish_tokens=preset.wish_tokens if preset.can_instruct else 0,
        )
        padding = range(loaded.codec.num_tokens, loaded.model.vocab_size)  # rows of the embedding that are no token
        self.textless = self._marks(loaded.codec.textless)
        self.banned = Banned(tokens=self._marks({*loaded.codec.textless, *padding} - {preset.null_token}))
        newlines = {i for i, piece in enumerate(loaded.codec.token_bytes) if b"\n" in piece or b"\r" in piece}
        self.newlines = self._marks(newlines)

    def _marks(self, ids: set[int] | frozenset[int | None]) -> torch.Tensor:
        """[V] bool, True at `ids`."""
        marks = torch.zeros(self.model.vocab_size, dtype=torch.bool)
        marks[torch.tensor(sorted(i for i in ids if i is not None), dtype=torch.long)] = True
        return marks.to(self.model.device)

    @property
    def sizes(self) -> Sizes:
        """Bounds of a canvas with several holes."""
        preset, spared = self.preset, self.thrift.spared
        return Sizes(
            canvas=spared(preset.canvas),
            max_holes=preset.max_holes,
            line_slots=self.num_slots(Mode.LINE),
            block_slots=self.num_slots(Mode.BLOCK),
        )

    def num_slots(self, mode: Mode) -> int:
        """Of the first canvas of a hole."""
        return max(1, self.thrift.spared(self.preset.line_slots if mode is Mode.LINE else self.preset.block_slots))

    def prompt(self, request: FillRequest, healing: Healing) -> Prompt:
        """What the model reads around the slots."""
        shape = replace(self._shape, context=self.thrift.spared(self._shape.context))
        surroundings = Surroundings(
            language=request.language,
            snippets=request.snippets,
            selection=request.selection,
            instruction=request.instruction,
        )
        return build_prompt(request.prefix, request.suffix, healing, shape, self.codec, surroundings)

    def length(self, mode: Mode) -> Length:
        """How a hole ends."""
        if self.preset.null_token is None:
            return FixedLength()
        return NullLength(null=self.preset.null_token, enders=self.newlines if mode is Mode.LINE else None)

    def schedule(self, request: FillRequest) -> LinearTemperature:
        """The temperatures that are asked for, else the preset's."""
        if request.temperature is None:
            return LinearTemperature(t_min=self.preset.t_min, t_max=self.preset.t_max)
        return LinearTemperature(t_min=request.temperature / 2, t_max=request.temperature)

    def policy(self, length: Length, constraint: Constraint, max_steps: int, schedule: LinearTemperature) -> Policy:
        """How a canvas is denoised."""
        preset = self.preset
        return Policy(
            noise=UniformNoise(first=preset.first_noise_id, last=self.codec.num_tokens - 1),
            max_steps=max_steps,
            entropy_bound=preset.entropy_bound,
            is_held_free=preset.is_held_free,
            keeps_pace=preset.keeps_pace,
            schedule=schedule,
            stop=StableAndConfident(stability=preset.stability, confidence=preset.confidence),
            length=length,
            constraint=constraint,
        )

    def run(
        self,
        canvas: list[int],
        slots: Slots,
        policy: Policy,
        seeds: list[int],
        control: Control,
        on_step: Callable[[StepView], None] | None,
    ) -> list[Row]:
        """Denoise a row for each seed: the same whatever else is in the batch."""
        ids = torch.tensor([canvas] * len(seeds), device=self.model.device)
        generators = [torch.Generator(device=self.model.device).manual_seed(seed) for seed in seeds]
        interrupts = Interrupts(is_cancelled=control.is_cancelled, deadline=control.deadline, on_step=on_step)
        return denoise(self.model, ids, slots, policy, generators, interrupts)


def seeds_of(request: FillRequest) -> list[int]:
    """Of each candidate."""
    return [(request.seed + i) % 2**63 for i in range(request.num_candidates)]
