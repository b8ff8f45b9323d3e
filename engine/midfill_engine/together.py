"""Several holes on one canvas, denoised together: each sees the others develop, which filling in order cannot give.

    tail | slots of hole 1 | between, pinned | slots of hole 2 | between, pinned | ... | head

Knows nothing of how a canvas is denoised; decides what stands on it, and reads out what came of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from midfill_engine.api import Candidate, FillRequest, Mode
from midfill_engine.denoise.length import EachLength, Length
from midfill_engine.denoise.loop import StepView
from midfill_engine.drafts import DraftMaker
from midfill_engine.prompt import as_trained
from midfill_engine.shape import resolve_mode
from midfill_engine.tokens import TokenCodec

Read = Callable[[str, Mode, str, str], str]
"""What a text offers between a prefix and a suffix; empty where that is nothing."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Bounds of a canvas: its positions in all, how many holes it may hold, slots of a hole in each mode."""

    canvas: int
    max_holes: int
    line_slots: int
    block_slots: int

    def slots(self, mode: Mode) -> int:
        return self.line_slots if mode is Mode.LINE else self.block_slots


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A canvas: token ids with 0 in the slots, and for each hole its mode and the number of its slots."""

    ids: list[int]
    slots: Tensor  # [M] positions of all slots
    modes: tuple[Mode, ...]
    sizes: tuple[int, ...]

    def length(self, length_of: Callable[[Mode], Length]) -> EachLength:
        """Each hole ends by itself."""
        return EachLength(sizes=self.sizes, lengths=tuple(length_of(mode) for mode in self.modes))


def modes_of(request: FillRequest) -> tuple[Mode, ...]:
    """Of each hole, by what stands right around it."""
    before = (request.prefix, *request.between)
    after = (*request.between, request.suffix)
    return tuple(resolve_mode(request.mode, left, right) for left, right in zip(before, after, strict=True))


def lay_out(request: FillRequest, tail: list[int], head: list[int], sizes: Sizes, codec: TokenCodec) -> Layout:
    """The canvas of all holes of a request, between the pinned `tail` and `head`."""
    modes = modes_of(request)
    counts = tuple(min(sizes.slots(mode), request.limits.max_tokens) for mode in modes)
    ids, slots = list(tail), list[int]()
    for count, between in zip(counts, (*request.between, None), strict=True):
        slots += range(len(ids), len(ids) + count)
        ids += [0] * count + ([] if between is None else codec.ids(as_trained(between)))
    return Layout(ids=ids + head, slots=torch.tensor(slots), modes=modes, sizes=counts)


def num_that_fit(request: FillRequest, num_pinned: int, sizes: Sizes, codec: TokenCodec) -> int:
    """How many of a request's first holes fit on one canvas beside `num_pinned` tokens around them; at least one."""
    counts = [sizes.slots(mode) for mode in modes_of(request)]
    used, num_holes = num_pinned + counts[0], 1
    for count, between in zip(counts[1:], request.between, strict=True):
        if num_holes == sizes.max_holes or used + len(between) // 16 + count > sizes.canvas:
            break  # no tokenising of a text that cannot fit anyway
        used += len(codec.ids(as_trained(between))) + count
        if used > sizes.canvas:
            break
        num_holes += 1
    return num_holes


def read_each(request: FillRequest, modes: tuple[Mode, ...], texts: list[str], read: Read) -> tuple[str, ...]:
    """What the texts offer in their holes. Each is read with those before it as they were read, and with those behind
    it as they were said."""
    offered: list[str] = []
    for hole, mode in enumerate(modes):
        before = "".join(text + between for text, between in zip(offered, request.between, strict=False))
        said = zip(request.between[hole:], texts[hole + 1 :], strict=True)
        after = "".join(between + text for between, text in said)
        offered.append(read(texts[hole], mode, request.prefix + before, after + request.suffix))
    return tuple(offered)


def candidate_of(texts: tuple[str, ...], log_probs: list[float]) -> Candidate:
    """The holes' texts, as sure as the model was of their tokens."""
    confidence = math.exp(sum(log_probs) / len(log_probs)) if log_probs else 0.0
    return Candidate(text=texts[0], texts=texts, confidence=confidence)


class DraftsOfEach:
    """Shows each hole's part of a step."""

    def __init__(self, sizes: tuple[int, ...], makers: list[DraftMaker]) -> None:
        self._sizes = sizes
        self._makers = makers

    def __call__(self, view: StepView) -> None:
        best, locked = view.best.split(self._sizes), view.is_locked.split(self._sizes)
        for maker, mine, mine_locked in zip(self._makers, best, locked, strict=True):
            maker(StepView(step=view.step, canvas=view.canvas, best=mine, is_locked=mine_locked))
