"""A loaded model that fills: request → prompt → canvas → denoise → read-out → candidates.

The flow is one way: everything about the text is settled in a `Plan` before the model is asked. When a canvas fills up
and the model has not ended the middle, the middle so far joins the prefix and a further canvas goes on behind it.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import torch

from midfill_engine.api import Candidate, EngineOptions, FillRequest, FillResult, Finish, Mode, Timings
from midfill_engine.core import Control, OnProgress
from midfill_engine.denoise.constraint import AllOf, Banned, Constraint
from midfill_engine.denoise.length import FixedLength, Length, NullLength
from midfill_engine.denoise.loop import Ended, Interrupts, Policy, Row, denoise
from midfill_engine.denoise.noise import UniformNoise
from midfill_engine.denoise.schedule import LinearTemperature
from midfill_engine.denoise.stop import StableAndConfident
from midfill_engine.drafts import DraftMaker
from midfill_engine.errors import ResourceError
from midfill_engine.heal import AffixConstraint, Healing, cut_healed, find_healing
from midfill_engine.models.loading import Loaded, load
from midfill_engine.presets import Preset, find_preset
from midfill_engine.prompt import Prompt, PromptShape, build_prompt
from midfill_engine.readout import read_out
from midfill_engine.shape import resolve_mode

_EXPLORE = LinearTemperature(t_min=0.4, t_max=0.8)  # further candidates of a greedy preset: DiffusionGemma's own range


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A request with everything about its text settled. `num_slots` of the first canvas."""

    request: FillRequest
    mode: Mode
    healing: Healing
    prompt: Prompt
    num_slots: int
    max_steps: int


@dataclass
class _Middle:
    """One candidate as it grows, canvas by canvas."""

    seed: int
    tokens: list[int]
    log_probs: list[float]
    num_steps: int = 0
    ended: Ended = Ended.STABLE
    is_open: bool = True  # the last canvas filled up without an end


def load_filler(options: EngineOptions, on_progress: OnProgress) -> Filler:
    """Load the preset's model (a `core.Load`). Raises PresetError, WeightsError or ResourceError."""
    preset = find_preset(options.preset)
    if options.num_threads:
        torch.set_num_threads(options.num_threads)
    return Filler(preset, load(preset, options.device, on_progress))


class Filler:
    """A `core.FillCore` over one model. Owned by one thread."""

    def __init__(self, preset: Preset, loaded: Loaded) -> None:
        self._preset = preset
        self._model = loaded.model
        self._codec = loaded.codec
        self._shape = PromptShape(
            context=preset.context, tail=preset.tail, head=preset.head, bos=loaded.bos, file=preset.file_token
        )
        self._banned = Banned(tokens=self._marks(loaded.codec.special - {preset.null_token}))
        newlines = {i for i, piece in enumerate(loaded.codec.token_bytes) if b"\n" in piece or b"\r" in piece}
        self._newlines = self._marks(newlines)

    @property
    def preset(self) -> str:
        return self._preset.name

    @property
    def device(self) -> str:
        return str(self._model.device)

    def fill(self, request: FillRequest, control: Control) -> FillResult:
        began = time.perf_counter()
        try:
            with torch.inference_mode():
                return self._fill(self.plan(request), control, began)
        except (MemoryError, torch.OutOfMemoryError):
            self._model.forget()
            raise ResourceError("not enough memory for this fill: ask for less context or fewer candidates") from None

    def plan(self, request: FillRequest) -> Plan:
        """Settle everything about the text."""
        preset = self._preset
        mode = resolve_mode(request.mode, request.prefix, request.suffix)
        healing = find_healing(request.prefix, request.suffix) if preset.heals else Healing()
        num_slots = preset.line_slots if mode is Mode.LINE else preset.block_slots
        return Plan(
            request=request,
            mode=mode,
            healing=healing,
            prompt=build_prompt(request.prefix, request.suffix, healing, self._shape, self._codec),
            num_slots=num_slots,
            max_steps=request.limits.max_steps or preset.max_steps,
        )

    def _fill(self, plan: Plan, control: Control, began: float) -> FillResult:
        encoded = self._model.encode(plan.prompt.encoded)
        encode_s = time.perf_counter() - began
        middles = self._first_canvases(plan, control)
        for middle in middles:
            while self._goes_on(middle, plan):
                self._extend(middle, plan, control)
        candidates = self._candidates(middles, plan)
        total = time.perf_counter() - began
        return FillResult(
            candidates=candidates,
            finish=_finish(middles, candidates),
            num_steps=sum(middle.num_steps for middle in middles[:1]) if len(middles) == 1 else _batch_steps(middles),
            num_tokens=len(middles[0].tokens),
            num_prompt=encoded.num_tokens,
            num_cached=encoded.num_cached,
            timings=Timings(encode=encode_s, denoise=total - encode_s, total=total),
            preset=self._preset.name,
        )

    def _first_canvases(self, plan: Plan, control: Control) -> list[_Middle]:
        """The first canvas of every candidate, in one batch; a greedy preset's further candidates are sampled."""
        request = plan.request
        seeds = [(request.seed + i) % 2**63 for i in range(request.num_candidates)]
        middles = [_Middle(seed=seed, tokens=[], log_probs=[]) for seed in seeds]
        schedule = self._schedule(request)
        if schedule.is_greedy and request.temperature is None and len(middles) > 1:
            self._denoise(middles[:1], plan, schedule, control)
            self._denoise(middles[1:], plan, _EXPLORE, replace(control, on_draft=None))
        else:
            self._denoise(middles, plan, schedule, control)
        return middles

    def _goes_on(self, middle: _Middle, plan: Plan) -> bool:
        is_interrupted = middle.ended in (Ended.CANCELLED, Ended.DEADLINE)
        has_room = len(middle.tokens) < plan.request.limits.max_tokens
        has_end = self._preset.null_token is not None
        return middle.is_open and has_room and has_end and not is_interrupted and not plan.healing.right

    def _extend(self, middle: _Middle, plan: Plan, control: Control) -> None:
        """One further canvas behind the middle so far."""
        ids = plan.prompt.encoded + plan.prompt.tail + middle.tokens
        num_tail = min(self._preset.tail, len(ids) - 1)
        prompt = Prompt(encoded=ids[: len(ids) - num_tail], tail=ids[len(ids) - num_tail :], head=plan.prompt.head)
        self._model.encode(prompt.encoded)
        further = replace(plan, prompt=prompt, healing=Healing())
        self._denoise([middle], further, self._schedule(plan.request), control)

    def _denoise(self, middles: list[_Middle], plan: Plan, schedule: LinearTemperature, control: Control) -> None:
        """Denoise one canvas for each of `middles`, which all stand behind the encoded prompt, and append to them."""
        room = plan.request.limits.max_tokens - len(middles[0].tokens)
        num_slots = min(plan.num_slots, room)
        length = self._length(plan.mode)
        tail, head = plan.prompt.tail, plan.prompt.head
        ids = torch.tensor([tail + [0] * num_slots + head] * len(middles), device=self._model.device)
        policy = Policy(
            noise=UniformNoise(first=self._preset.first_noise_id, last=self._codec.num_tokens - 1),
            max_steps=plan.max_steps,
            entropy_bound=self._preset.entropy_bound,
            is_held_free=self._preset.is_held_free,
            schedule=schedule,
            stop=StableAndConfident(stability=self._preset.stability, confidence=self._preset.confidence),
            length=length,
            constraint=self._constraint(plan.healing),
        )
        watcher = None
        if control.on_draft is not None:
            watcher = DraftMaker(self._codec, length, middles[0].tokens, plan.healing.left, control.on_draft)
        rows = denoise(
            self._model,
            ids,
            slice(len(tail), len(tail) + num_slots),
            policy,
            [self._generator(middle) for middle in middles],
            Interrupts(is_cancelled=control.is_cancelled, deadline=control.deadline, on_step=watcher),
        )
        for middle, row in zip(middles, rows, strict=True):
            self._append(middle, row, plan.mode)

    def _append(self, middle: _Middle, row: Row, mode: Mode) -> None:
        kept = self._length(mode).cut(row.tokens)
        has_line_end = mode is Mode.LINE and any(bool(self._newlines[token]) for token in kept)
        middle.is_open = bool(row.tokens) and len(kept) == len(row.tokens) and not has_line_end
        middle.tokens = middle.tokens + kept
        middle.log_probs = middle.log_probs + row.log_probs[: len(kept) + 1]
        middle.num_steps += row.num_steps
        middle.ended = row.ended

    def _candidates(self, middles: list[_Middle], plan: Plan) -> tuple[Candidate, ...]:
        """Worthwhile texts, duplicates merged: the first row leads, the others follow by confidence."""
        found: dict[str, float] = {}
        for middle in middles:
            text = self._text(middle, plan)
            if text and middle.ended is not Ended.CANCELLED:
                found[text] = max(found.get(text, 0.0), _confidence(middle))
        leading = next(iter(found), "")
        ranked = sorted(found.items(), key=lambda item: (item[0] != leading, -item[1]))
        return tuple(Candidate(text=text, confidence=confidence) for text, confidence in ranked)

    def _text(self, middle: _Middle, plan: Plan) -> str:
        text: str | None = self._codec.text_of(middle.tokens)
        if plan.healing.is_needed:
            text = cut_healed(text or "", plan.healing)
        return read_out(text or "", plan.mode, plan.request.prefix, plan.request.suffix)

    def _generator(self, middle: _Middle) -> torch.Generator:
        """Random numbers of a candidate's next canvas: the same whatever else is in the batch."""
        generator = torch.Generator(device=self._model.device)
        return generator.manual_seed((middle.seed * 1_000_003 + len(middle.tokens)) % 2**63)

    def _schedule(self, request: FillRequest) -> LinearTemperature:
        if request.temperature is None:
            return LinearTemperature(t_min=self._preset.t_min, t_max=self._preset.t_max)
        return LinearTemperature(t_min=request.temperature / 2, t_max=request.temperature)

    def _length(self, mode: Mode) -> Length:
        if self._preset.null_token is None:
            return FixedLength()
        return NullLength(null=self._preset.null_token, enders=self._newlines if mode is Mode.LINE else None)

    def _constraint(self, healing: Healing) -> Constraint:
        if not healing.is_needed:
            return self._banned
        return AllOf((self._banned, AffixConstraint(healing, self._codec, self._preset.null_token)))

    def _marks(self, ids: set[int] | frozenset[int | None]) -> torch.Tensor:
        """[V] bool, True at `ids`."""
        marks = torch.zeros(self._model.vocab_size, dtype=torch.bool)
        marks[torch.tensor(sorted(i for i in ids if i is not None), dtype=torch.long)] = True
        return marks.to(self._model.device)


def _confidence(middle: _Middle) -> float:
    """Geometric mean of the probabilities of the tokens, the end among them."""
    return math.exp(sum(middle.log_probs) / len(middle.log_probs)) if middle.log_probs else 0.0


def _batch_steps(middles: list[_Middle]) -> int:
    """Passes of the denoiser: rows of one batch share theirs."""
    return max(middle.num_steps for middle in middles)


def _finish(middles: list[_Middle], candidates: tuple[Candidate, ...]) -> Finish:
    first = middles[0]
    if first.ended is Ended.CANCELLED:
        return Finish.CANCELLED
    if not candidates:
        return Finish.EMPTY
    if first.ended is Ended.DEADLINE:
        return Finish.DEADLINE
    if first.is_open:
        return Finish.LENGTH
    return Finish.STEPS if first.ended is Ended.STEPS else Finish.COMPLETE
