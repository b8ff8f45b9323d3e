"""Filling training canvases by the inference path that ships: the engine's model and denoise loop, from token ids.

Training's own measure of what its losses are for: how many middles come out exactly.
"""

from __future__ import annotations

import copy
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import DiffusionGemmaForBlockDiffusion

from midfill_engine.denoise.constraint import Banned
from midfill_engine.denoise.length import NullLength
from midfill_engine.denoise.loop import Policy, denoise
from midfill_engine.denoise.noise import UniformNoise
from midfill_engine.denoise.schedule import LinearTemperature
from midfill_engine.denoise.stop import StableAndConfident
from midfill_engine.models.diffusion_gemma import Conditioning, DiffusionGemma, FirstSignal
from midfill_engine.train.canvases import Batch, BatchSampler
from midfill_engine.train.windows import FIRST_NOISE_ID, NULL


@dataclass(frozen=True, kw_only=True)
class Example:
    """One canvas as token ids."""

    encoded: list[int]
    canvas: Tensor  # [N] with the truth in the slots
    slots: slice

    @property
    def middle(self) -> list[int]:
        """The true tokens, without nulls."""
        return [token for token in self.canvas[self.slots].tolist() if token != NULL]


def examples(batch: Batch) -> Iterator[Example]:
    """The canvases of a batch."""
    for row in range(batch.owner.shape[0]):
        for owner in sorted(set(batch.owner[row].tolist()) - {-1}):
            places = (batch.owner[row] == owner).nonzero()[:, 0]
            slots = batch.slots[row, places].nonzero()[:, 0].tolist()
            yield Example(
                encoded=batch.encoder[row, : int(batch.seen[row, places[0]])].tolist(),
                canvas=batch.clean[row, places],
                slots=slice(slots[0], slots[-1] + 1),
            )


def greedy_policy(vocabulary: int, max_steps: int = 8, entropy_bound: float = 0.3) -> Policy:
    """How the shipped small model denoises."""
    special = torch.zeros(vocabulary, dtype=torch.bool)
    special[:FIRST_NOISE_ID] = True
    special[NULL] = False
    return Policy(
        noise=UniformNoise(first=FIRST_NOISE_ID, last=vocabulary - 1),
        max_steps=max_steps,
        entropy_bound=entropy_bound,
        is_held_free=True,
        schedule=LinearTemperature(t_min=0.0, t_max=0.0),
        stop=StableAndConfident(stability=1, confidence=0.02),
        length=NullLength(null=NULL),
        constraint=Banned(tokens=special),
    )


@torch.inference_mode()
def fill(model: DiffusionGemma, example: Example, policy: Policy, seed: int = 0) -> list[int]:
    """The middle's tokens as the engine finds them."""
    model.encode(example.encoded)
    generator = torch.Generator().manual_seed(seed)
    row = denoise(model, example.canvas[None], example.slots, policy, [generator])[0]
    return policy.length.cut(row.tokens)


def exact_match(
    model: DiffusionGemmaForBlockDiffusion, sampler: BatchSampler, count: int, seed: int = 0
) -> dict[str, float]:
    """Share of held-out middles filled exactly, of all and by number of tokens."""
    # The engine rewires its model.
    engine = DiffusionGemma(copy.deepcopy(model), FirstSignal.MEAN, conditioning=Conditioning.LOCKED)
    policy = greedy_policy(engine.vocab_size)
    hits: dict[str, list[bool]] = defaultdict(list)
    number = 0
    while len(hits["exact"]) < count:
        found = list(examples(sampler.draw(1, 1, number)))
        number += 1
        for example in random.Random(seed + number).sample(found, min(4, len(found))):
            right = fill(engine, example, policy) == example.middle
            hits["exact"].append(right)
            hits[_length_group(len(example.middle))].append(right)
    return {name: round(sum(values) / len(values), 4) for name, values in sorted(hits.items())}


def _length_group(tokens: int) -> str:
    return "exact_0" if tokens == 0 else "exact_1_4" if tokens <= 4 else "exact_5_12" if tokens <= 12 else "exact_13"
