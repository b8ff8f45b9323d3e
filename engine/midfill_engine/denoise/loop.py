"""The denoising loop: noise in the slots, then step by step what the model is sure of is locked and the rest renoised.

Rows are independent: each has its own random numbers and stops by itself, so that a row comes out the same alone or in
a batch. Equal settings, nothing pinned and the same random numbers give what transformers'
`DiffusionGemmaForBlockDiffusion.generate` gives, token for token (tests/engine/test_oracle_generate.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

import torch
from torch import Tensor

from midfill_engine.denoise.accept import entropies, within_bound
from midfill_engine.denoise.constraint import Constraint, Unconstrained
from midfill_engine.denoise.length import FixedLength, Length
from midfill_engine.denoise.noise import UniformNoise
from midfill_engine.denoise.schedule import LinearTemperature
from midfill_engine.denoise.stop import StableAndConfident

Slots = slice | Tensor
"""The positions of a canvas that are to be filled: one run of them, or their numbers [M] in rising order."""


def count_slots(slots: Slots) -> int:
    """How many they are."""
    return slots.stop - slots.start if isinstance(slots, slice) else len(slots)


@dataclass(frozen=True)
class LastStep:
    """What a model may condition on from the step before: the processed logits [B, M, V], and which slots hold a token
    that was locked, [B, M] bool."""

    logits: Tensor
    is_locked: Tensor


class Denoiser(Protocol):
    """One pass of a model over canvases that share one encoded prefix."""

    def slot_logits(self, canvas: Tensor, slots: Slots, last: LastStep | None) -> Tensor:
        """Raw logits of the slots, [B, M, V] float32.

        `canvas` [B, N] holds token ids, of which the positions `slots` are to be filled and all others are pinned.
        `last` is for self-conditioning; None at the first step.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Everything that decides how a canvas is denoised. `entropy_bound` in nats, see `accept.within_bound`.

    `is_held_free`: a locked slot whose token stays costs nothing of the bound, so that every step locks something new.
    `keeps_pace`: every step locks at least its share of the open slots, so that none is left open for the last.
    """

    noise: UniformNoise
    max_steps: int = 48
    entropy_bound: float = 0.1
    is_held_free: bool = False
    keeps_pace: bool = False
    schedule: LinearTemperature = field(default_factory=lambda: LinearTemperature(t_min=0.4, t_max=0.8))
    stop: StableAndConfident = field(default_factory=StableAndConfident)
    length: Length = field(default_factory=FixedLength)
    constraint: Constraint = field(default_factory=Unconstrained)

    def __post_init__(self) -> None:
        if self.max_steps < 1:
            raise ValueError(f"max_steps must be 1 or more, got {self.max_steps}")
        if not self.entropy_bound > 0:
            raise ValueError(f"entropy_bound must be above 0, got {self.entropy_bound}")


class Ended(StrEnum):
    """Why a row's denoising ended."""

    STABLE = "stable"
    STEPS = "steps"
    DEADLINE = "deadline"
    CANCELLED = "cancelled"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A denoised row: the argmax of each slot [M], its log-probability, and after how many steps it ended."""

    tokens: list[int]
    log_probs: list[float]
    num_steps: int
    ended: Ended


@dataclass(frozen=True, kw_only=True)
class StepView:
    """What a watcher sees after a step: of the first row, while it is denoised, the slots' argmax and locks."""

    step: int
    canvas: Tensor  # [B, N], as the next step will see it
    best: Tensor  # [M]
    is_locked: Tensor  # [M]


@dataclass(frozen=True, kw_only=True)
class Interrupts:
    """Who may end the loop early, asked before every step, and who watches."""

    is_cancelled: Callable[[], bool] = lambda: False
    deadline: float | None = None  # time.monotonic()
    on_step: Callable[[StepView], None] | None = None

    def is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline


@dataclass
class _State:
    """The rows still denoised; every tensor's first dimension is those rows."""

    rows: list[int]
    canvas: Tensor  # [B, N]
    previous: Tensor | None = None  # processed logits of the step before, [B, M, V]
    history: list[Tensor] = field(default_factory=list)  # argmax of each step, [B, M]
    held: Tensor | None = None  # [B, M] locked at the step before

    @property
    def last(self) -> LastStep | None:
        if self.previous is None or self.held is None:
            return None
        return LastStep(self.previous, self.held)

    def keep(self, index: Tensor) -> None:
        self.rows = [self.rows[i] for i in index.tolist()]
        self.canvas = self.canvas[index]
        self.previous = None if self.previous is None else self.previous[index]
        self.history = [best[index] for best in self.history]
        self.held = None if self.held is None else self.held[index]


@dataclass(frozen=True)
class _Prediction:
    """What a step makes of the logits; everything [B, M]."""

    logits: Tensor  # processed, [B, M, V]
    normaliser: Tensor  # logsumexp of the logits
    best: Tensor
    drawn: Tensor
    entropy: Tensor


def denoise(
    model: Denoiser,
    canvas: Tensor,
    slots: Slots,
    policy: Policy,
    generators: list[torch.Generator],
    interrupts: Interrupts | None = None,
) -> list[Row]:
    """Fill the slots of every row.

    `canvas` [B, N] with pinned tokens outside `slots`; what stands in the slots is replaced by noise. `generators`: one
    per row. Returns a Row per row, in order; all `CANCELLED` and without tokens when that happened before a first step.
    """
    interrupts = interrupts or Interrupts()
    state = _State(rows=list(range(len(generators))), canvas=canvas.clone())
    num_slots = count_slots(slots)
    for i, generator in enumerate(generators):
        state.canvas[i, slots] = policy.noise.draw(num_slots, generator)
    done: dict[int, Row] = {}
    for step in range(1, policy.max_steps + 1):
        if interrupts.is_cancelled():
            return _cancelled(done, len(generators), step - 1)
        prediction = _predict(model, state, slots, policy, step, generators)
        locked, prediction = _lock(prediction, state, slots, policy, step)
        finished = policy.stop.is_done(prediction.best, state.history, prediction.entropy)
        ended = Ended.STABLE
        if not bool(finished.all()) and (step == policy.max_steps or interrupts.is_late()):
            ended = Ended.STEPS if step == policy.max_steps else Ended.DEADLINE
        _renoise(state, slots, locked, prediction.drawn, policy.noise, generators)
        if interrupts.on_step is not None and state.rows[0] == 0:
            interrupts.on_step(StepView(step=step, canvas=state.canvas, best=prediction.best[0], is_locked=locked[0]))
        _collect(done, state, prediction, finished, step, ended)
        if not state.rows:
            break
    return [done[i] for i in range(len(generators))]


def _predict(
    model: Denoiser, state: _State, slots: Slots, policy: Policy, step: int, generators: list[torch.Generator]
) -> _Prediction:
    raw = model.slot_logits(state.canvas, slots, state.last)
    logits = policy.constraint.apply(raw)
    if not policy.schedule.is_greedy:
        logits = logits / policy.schedule.at(step, policy.max_steps)
    best = logits.argmax(-1)
    drawn = best if policy.schedule.is_greedy else _draw(logits, state.rows, generators)
    entropy, normaliser = entropies(logits)
    return _Prediction(logits=logits, normaliser=normaliser, best=best, drawn=drawn, entropy=entropy)


def _draw(logits: Tensor, rows: list[int], generators: list[torch.Generator]) -> Tensor:
    """A token for each slot, every row from its own random numbers, [B, M]."""
    probs = logits.softmax(-1)
    return torch.stack([torch.multinomial(probs[i], 1, generator=generators[r])[:, 0] for i, r in enumerate(rows)])


def _lock(
    prediction: _Prediction, state: _State, slots: Slots, policy: Policy, step: int
) -> tuple[Tensor, _Prediction]:
    """Which slots are locked, [B, M], and the prediction with everything behind the middle's end settled."""
    cost = prediction.entropy
    if policy.is_held_free and state.held is not None:
        stays = state.held & (prediction.drawn == state.canvas[:, slots])
        cost = cost.masked_fill(stays | policy.length.behind_end(prediction.drawn, stays), 0.0)
    pace = _pace(prediction, state, slots, policy, step) if policy.keeps_pace else None
    locked = within_bound(cost, policy.entropy_bound, pace)
    filler = policy.length.filler
    if filler is None:
        return locked, prediction
    behind = policy.length.behind_end(prediction.drawn, locked)
    settled = replace(
        prediction,
        best=prediction.best.masked_fill(behind, filler),
        drawn=prediction.drawn.masked_fill(behind, filler),
        entropy=prediction.entropy.masked_fill(behind, 0.0),
    )
    return locked | behind, settled


def _pace(prediction: _Prediction, state: _State, slots: Slots, policy: Policy, step: int) -> Tensor:
    """How many slots of each row are to be locked so that none is open after the last step, [B]."""
    settled = torch.zeros_like(prediction.drawn, dtype=torch.bool)
    if state.held is not None:
        stays = state.held & (prediction.drawn == state.canvas[:, slots])
        settled = stays | policy.length.behind_end(prediction.drawn, stays)
    num_settled = settled.sum(-1)
    num_left = policy.max_steps - step + 1
    return num_settled + (settled.shape[-1] - num_settled + num_left - 1) // num_left


def _renoise(
    state: _State,
    slots: Slots,
    locked: Tensor,
    drawn: Tensor,
    noise: UniformNoise,
    generators: list[torch.Generator],
) -> None:
    fresh = torch.stack([noise.draw(drawn.shape[1], generators[row]) for row in state.rows])
    state.canvas[:, slots] = torch.where(locked, drawn, fresh)
    state.held = locked


def _collect(
    done: dict[int, Row], state: _State, prediction: _Prediction, finished: Tensor, step: int, ended: Ended
) -> None:
    """Move rows that are done (all of them when the loop ends here) from `state` to `done`; carry the others on."""
    going = finished.new_zeros(finished.shape) if ended is not Ended.STABLE else ~finished
    chosen = prediction.logits.gather(-1, prediction.best[..., None])[..., 0] - prediction.normaliser  # [B, M]
    for i in (~going).nonzero()[:, 0].tolist():
        why = Ended.STABLE if bool(finished[i]) else ended
        done[state.rows[i]] = Row(
            tokens=prediction.best[i].tolist(), log_probs=chosen[i].tolist(), num_steps=step, ended=why
        )
    state.previous = prediction.logits
    state.history = [*state.history, prediction.best]
    if not bool(going.all()):
        state.keep(going.nonzero()[:, 0])


def _cancelled(done: dict[int, Row], num_rows: int, num_steps: int) -> list[Row]:
    nothing = Row(tokens=[], log_probs=[], num_steps=num_steps, ended=Ended.CANCELLED)
    return [done.get(i, nothing) for i in range(num_rows)]
