"""Training examples: a window for the encoder and, packed one after another, canvases cut from it for the decoder.

A canvas is [prefix tail, pinned][M slots][suffix head, pinned]; the slots hold the middle, then <null>. Prefix, middle
and suffix are tokenised apart, as they are at inference, where nobody knows how a token would have joined them. All
canvases of a window share its encoder pass: `seen` says how many encoder positions (those before its canvas) a canvas
position may attend to, `owner` to which canvas it belongs. The positions are divided into blocks: no canvas crosses
one, and block i of n only takes canvases that see at most the first (i + 1) / n of the window.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from midfill_engine.train.holes import Hole, HoleMix, propose
from midfill_engine.train.shards import Shard
from midfill_engine.train.windows import NULL, PAD, Window, WindowSampler, causal_row, encoder_row

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SUFFIX_CHARS = 200  # enough for the longest suffix head
TRIES = 12  # draws of a hole before a canvas is given up


@dataclass(frozen=True, kw_only=True)
class CanvasSettings:
    """Shapes in tokens, weights of the diffusion loss."""

    window: int = 512
    positions: int = 512  # canvas positions of one window
    block: int = 128  # of these positions
    slot_counts: tuple[int, ...] = (8, 16, 24, 32, 48)
    max_tail: int = 8
    max_head: int = 24
    no_suffix_share: float = 0.1
    later_null_weight: float = 0.5
    kept_nulls: int = 3  # nulls after the first that are always trained; of the rest one in three
    prose_share: float = 0.25  # of the docstring and comment tokens in the causal loss
    mix: HoleMix = field(default_factory=HoleMix)

    def __post_init__(self) -> None:
        if self.block < self.slot_counts[-1] + self.max_tail + self.max_head:
            raise ValueError(f"block ({self.block}) is too small for one canvas of {self.slot_counts[-1]} slots")
        if self.positions < self.block or self.positions % self.block:
            raise ValueError(f"positions ({self.positions}) must be a multiple of block ({self.block})")
        if list(self.slot_counts) != sorted(self.slot_counts):
            raise ValueError(f"slot_counts must rise, not {self.slot_counts}")


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Examples as tensors. B windows, W encoder and N canvas positions."""

    encoder: Tensor  # [B, W] ids
    causal: Tensor  # [B, W - 1] boolean: whose next token is trained
    clean: Tensor  # [B, N] ids: the pinned tokens and the truth in the slots
    slots: Tensor  # [B, N] boolean
    weight: Tensor  # [B, N] of the loss, 0 outside slots
    rank: Tensor  # [B, N] the number of a slot within its canvas
    positions: Tensor  # [B, N] as the model counts them
    owner: Tensor  # [B, N] which canvas, -1 for none
    seen: Tensor  # [B, N] encoder positions that may be attended to
    block: int  # positions in a block

    def to(self, device: torch.device) -> Batch:
        """The batch on a device."""
        tensors = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "block"}
        moved = {name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()}
        return Batch(**moved, block=self.block)

    def masks(self, dtype: torch.dtype) -> tuple[Tensor, ...]:
        """For each block [B, 1, block, P + block], to add to the scores: what may be seen of the first P encoder
        positions and of the block itself."""
        size = self.block
        blocks = range(self.seen.shape[1] // size)
        return tuple(
            self._mask(slice(i * size, (i + 1) * size), visible(i, len(blocks), self.encoder.shape[1]), dtype)
            for i in blocks
        )

    def _mask(self, own: slice, prefix: int, dtype: torch.dtype) -> Tensor:
        numbers = torch.arange(prefix, device=self.seen.device)
        before = numbers < self.seen[:, own, None]
        together = self.owner[:, own, None] == self.owner[:, None, own]
        allowed = torch.cat([before, together], -1)[:, None]
        return torch.zeros(allowed.shape, dtype=dtype, device=allowed.device).masked_fill_(~allowed, float("-inf"))


def visible(block: int, blocks: int, window: int) -> int:
    """How many encoder positions a block's canvases may see."""
    return window * (block + 1) // blocks


@dataclass(frozen=True, kw_only=True)
class _Cut:
    """A hole with its surroundings as text; the tail begins at window token `first`."""

    first: int
    tail: str
    middle: str
    suffix: str
    head: int  # suffix tokens pinned


class BatchSampler:
    """Batches as a pure function of (seed, step, number)."""

    def __init__(self, shard: Shard, tokenizer: Tokenizer, settings: CanvasSettings, seed: int = 0) -> None:
        self.windows = WindowSampler(shard, settings.window)
        self.tokenizer, self.settings, self.seed = tokenizer, settings, seed

    def draw(self, size: int, step: int, number: int = 0, with_canvases: bool = True) -> Batch:
        """A batch of `size` windows; without canvases their part of the batch is empty (N = 0)."""
        rng = random.Random(f"{self.seed} {step} {number}")
        rows = [self._row(rng, with_canvases) for _ in range(size)]
        tensors = {name: torch.from_numpy(np.stack([row[name] for row in rows])) for name in rows[0]}
        return Batch(**tensors, block=self.settings.block)

    def _row(self, rng: random.Random, with_canvases: bool) -> dict[str, NDArray[np.generic]]:
        settings = self.settings
        window = self.windows.draw(rng)
        row = _empty_row(settings.positions if with_canvases else 0)
        if with_canvases:
            self._pack(row, window, self._cuts(window, rng), rng)
        row["encoder"] = encoder_row(window, settings.window)
        row["causal"] = causal_row(window, settings.window, settings.prose_share, rng)
        return row

    def _cuts(self, window: Window, rng: random.Random) -> list[_Cut]:
        cuts = []
        for _ in range(self.settings.positions // 18):
            hole = next((hole for _ in range(TRIES) if (hole := propose(window, self.settings.mix, rng))), None)
            if hole is not None:
                cuts.append(self._cut(window, hole, rng))
        return cuts

    def _cut(self, window: Window, hole: Hole, rng: random.Random) -> _Cut:
        settings, text = self.settings, window.text
        last = int(window.starts.searchsorted(hole.begin, "right")) - 1
        first = max(last - rng.randint(0, settings.max_tail - 1), 0)
        lowest = 2 * settings.max_head // 3 if rng.random() < 0.6 else 1
        head = 0 if rng.random() < settings.no_suffix_share else rng.randint(lowest, settings.max_head)
        return _Cut(
            first=first,
            tail=text[int(window.starts[first]) : hole.begin],
            middle=text[hole.begin : hole.end],
            suffix=text[hole.end : hole.end + SUFFIX_CHARS] if head else "",
            head=head,
        )

    def _pack(self, row: dict[str, NDArray[np.generic]], window: Window, cuts: list[_Cut], rng: random.Random) -> None:
        texts = [text for cut in cuts for text in (cut.tail, cut.middle, cut.suffix)]
        ids = [encoding.ids for encoding in self.tokenizer.encode_batch(texts, add_special_tokens=False)]
        blocks = _Blocks(self.settings)
        for number, cut in enumerate(cuts):
            tail, middle, suffix = ids[3 * number], ids[3 * number + 1], ids[3 * number + 2][: cut.head]
            if len(middle) > self.settings.slot_counts[-1]:
                continue
            num_slots = choose_slot_count(len(middle), self.settings.slot_counts, rng)
            length = len(tail) + num_slots + len(suffix)
            seen = cut.first + len(window.lead)
            at = blocks.place(length, seen)
            if at is None:
                continue
            span = slice(at, at + length)
            row["clean"][span] = tail + middle + [NULL] * (num_slots - len(middle)) + suffix
            row["positions"][span] = np.arange(seen, seen + length)
            row["owner"][span] = number
            row["seen"][span] = seen
            _weigh(row, at + len(tail), len(middle), num_slots, self.settings, rng)


class _Blocks:
    """Places canvases into the first block that has room and sees enough."""

    def __init__(self, settings: CanvasSettings) -> None:
        self.size = settings.block
        self.used = [0] * (settings.positions // settings.block)
        self.visible = [visible(i, len(self.used), settings.window) for i in range(len(self.used))]

    def place(self, length: int, seen: int) -> int | None:
        """The position at which a canvas of `length` begins, or None where none has room."""
        for number, used in enumerate(self.used):
            if seen <= self.visible[number] and used + length <= self.size:
                self.used[number] += length
                return number * self.size + used
        return None


def _empty_row(positions: int) -> dict[str, NDArray[np.generic]]:
    return {
        "clean": np.full(positions, PAD, np.int64),
        "slots": np.zeros(positions, np.bool_),
        "weight": np.zeros(positions, np.float32),
        "rank": np.zeros(positions, np.int64),
        "positions": np.zeros(positions, np.int64),
        "owner": np.full(positions, -1, np.int64),
        "seen": np.ones(positions, np.int64),
    }


def choose_slot_count(middle: int, counts: tuple[int, ...], rng: random.Random) -> int:
    """How many slots a middle of so many tokens gets: often the fewest that hold it, else up to two sizes more."""
    fits = [count for count in counts if count >= middle]
    return fits[0] if rng.random() < 0.4 else rng.choice(fits[:3])


def _weigh(
    row: dict[str, NDArray[np.generic]], at: int, middle: int, slots: int, settings: CanvasSettings, rng: random.Random
) -> None:
    """Mark the slots from `at` on and set their weights: the length (the first null) counts as much as any token."""
    row["slots"][at : at + slots] = True
    row["rank"][at : at + slots] = np.arange(slots)
    weight = np.ones(slots, np.float32)
    weight[middle + 1 :] = settings.later_null_weight
    for late in range(middle + 1 + settings.kept_nulls, slots):
        weight[late] = settings.later_null_weight if rng.random() < 1 / 3 else 0.0
    row["weight"][at : at + slots] = weight
