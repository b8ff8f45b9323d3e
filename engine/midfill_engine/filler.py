"""A loaded model that fills: request → prompt → canvas → denoise → read-out → candidates.

The flow is one way: everything about the text is settled in a `Plan` before the model is asked. When a canvas fills up
and the model has not ended the middle, the middle so far joins the prefix and a further canvas goes on behind it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from midfill_engine.api import EngineOptions, FillRequest, FillResult, Finish, Mode, Timings
from midfill_engine.beam import Branching
from midfill_engine.canvases import EXPLORE, Canvases, seeds_of
from midfill_engine.causal import CausalHead
from midfill_engine.confidence import Evidence
from midfill_engine.core import Control, OnProgress
from midfill_engine.denoise.constraint import AllOf, Banned, Constraint
from midfill_engine.denoise.loop import Ended, Row
from midfill_engine.denoise.schedule import LinearTemperature
from midfill_engine.drafts import DraftMaker
from midfill_engine.ending import finish_of
from midfill_engine.heal import AffixConstraint, Healing, cut_healed, find_healing
from midfill_engine.joint import fill_together
from midfill_engine.models.base import BlockModel
from midfill_engine.models.loading import Loaded, load
from midfill_engine.offers import Hole, Judge, Middle, Offer, candidates_of
from midfill_engine.presets import Preset, find_preset
from midfill_engine.prompt import Prompt
from midfill_engine.readout import read_out
from midfill_engine.several import fill_in_order
from midfill_engine.shape import resolve_mode
from midfill_engine.together import num_that_fit

_MOST_SPARES = 4


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A request with everything about its text settled. `num_slots` of the first canvas."""

    request: FillRequest
    mode: Mode
    healing: Healing
    prompt: Prompt
    num_slots: int
    max_steps: int


def load_filler(options: EngineOptions, on_progress: OnProgress) -> Filler:
    """Load the preset's model (a `core.Load`). Raises PresetError, WeightsError or ResourceError."""
    return load_preset(find_preset(options.preset), options, on_progress)


def load_preset(preset: Preset, options: EngineOptions, on_progress: OnProgress) -> Filler:
    """Load a preset's model, whatever preset the options name."""
    if options.num_threads:
        torch.set_num_threads(options.num_threads)
    loaded = load(preset, options.device, on_progress)
    return Filler(preset, loaded, causal_model=loaded.model if preset.has_causal_draft else None)


class Filler:
    """A `core.FillCore` over one model. Owned by one thread. `causal_model`: the same weights read left to right, where
    they should draft and judge too."""

    def __init__(self, preset: Preset, loaded: Loaded[BlockModel], causal_model: Branching | None = None) -> None:
        canvases = self._canvases = Canvases(preset, loaded)
        self._preset = preset
        self._model = loaded.model
        self._codec = loaded.codec
        causal = CausalHead(causal_model, canvases.textless, canvases.newlines) if causal_model else None
        self._judge = Judge(preset, loaded.codec, causal)

    @property
    def preset(self) -> str:
        return self._preset.name

    @property
    def device(self) -> str:
        return str(self._model.device)

    @property
    def banned(self) -> torch.Tensor:
        """Tokens that never stand in a slot, [V] bool."""
        return self._canvases.banned.tokens

    def num_tokens(self, text: str) -> int:
        """How many tokens a text takes."""
        return len(self._codec.ids(text))

    def fill(self, request: FillRequest, control: Control) -> FillResult:
        if request.between:
            return fill_in_order(request, control, self._fill_hole, self._num_together)
        return self._fill_hole(request, control)

    def _num_together(self, request: FillRequest) -> int:
        if self._preset.max_holes == 1 or not request.between:
            return 1
        return num_that_fit(request, self._preset.tail + self._preset.head, self._canvases.sizes, self._codec)

    def _fill_hole(self, request: FillRequest, control: Control) -> FillResult:
        began = time.perf_counter()
        return self._canvases.thrift.fill(lambda: self._try_fill(request, control, began), self._model.forget)

    def _try_fill(self, request: FillRequest, control: Control, began: float) -> FillResult:
        with torch.inference_mode():
            if request.between:
                return fill_together(request, self._canvases, control, began)
            return self._fill(self.plan(request), control, began)

    def judge(self, request: FillRequest, control: Control) -> tuple[str, Evidence] | None:
        """The leading text of a fill and what is known of it; None where nothing is offered or nothing judges."""
        with torch.inference_mode():
            plan = self.plan(request)
            self._model.encode(plan.prompt.encoded)
            offers = self._offers(self._middles(plan, control)[0], plan, control)
        leading = offers[0] if offers else None
        return (leading.text, leading.evidence) if leading is not None and leading.evidence is not None else None

    def plan(self, request: FillRequest) -> Plan:
        """Settle everything about the text."""
        preset = self._preset
        mode = resolve_mode(request.mode, request.prefix, request.suffix)
        healing = find_healing(request.prefix, request.suffix) if preset.heals else Healing()
        return Plan(
            request=request,
            mode=mode,
            healing=healing,
            prompt=self._canvases.prompt(request, healing),
            num_slots=self._canvases.num_slots(mode),
            max_steps=request.limits.max_steps or (mode is Mode.LINE and preset.line_steps) or preset.max_steps,
        )

    def _fill(self, plan: Plan, control: Control, began: float) -> FillResult:
        encoded = self._model.encode(plan.prompt.encoded)
        encode_s = time.perf_counter() - began
        middles, num_steps = self._middles(plan, control)
        offers = self._offers(middles, plan, control)
        leading = offers[0].middle if offers else middles[0]
        total = time.perf_counter() - began
        return FillResult(
            candidates=candidates_of(offers[: plan.request.num_candidates]),
            spares=candidates_of(offers[plan.request.num_candidates :][:_MOST_SPARES]),
            finish=_finish(middles, leading, is_empty=not offers),
            num_steps=num_steps,
            num_tokens=len(leading.tokens) if offers else 0,
            num_prompt=encoded.num_tokens,
            num_cached=encoded.num_cached,
            timings=Timings(encode=encode_s, denoise=total - encode_s, total=total),
            preset=self._preset.name,
        )

    def _offers(self, middles: list[Middle], plan: Plan, control: Control) -> list[Offer]:
        """What may be offered, best first."""
        hole = Hole(
            request=plan.request, mode=plan.mode, prompt=plan.prompt, read=lambda tokens: self.read(tokens, plan)
        )
        return self._judge.offers(middles, hole, control)

    def _middles(self, plan: Plan, control: Control) -> tuple[list[Middle], int]:
        """Every candidate denoised to its end, and how many passes that took."""
        middles, num_steps = self._first_canvases(plan, control)
        for middle in middles:
            while self._goes_on(middle, plan, control):
                num_steps += self._extend(middle, plan, control if middle is middles[0] else _unwatched(control))
        return middles, num_steps

    def _first_canvases(self, plan: Plan, control: Control) -> tuple[list[Middle], int]:
        """The first canvas of every candidate, in one batch, and how many passes that took; a greedy preset's further
        candidates are sampled."""
        request = plan.request
        middles = [Middle(seed=seed, tokens=[], log_probs=[]) for seed in seeds_of(request)]
        schedule = self._canvases.schedule(request)
        if schedule.is_greedy and request.temperature is None and len(middles) > 1:
            num_steps = self._denoise(middles[:1], plan, schedule, control)
            return middles, num_steps + self._denoise(middles[1:], plan, EXPLORE, _unwatched(control))
        return middles, self._denoise(middles, plan, schedule, control)

    def _goes_on(self, middle: Middle, plan: Plan, control: Control) -> bool:
        is_late = control.deadline is not None and time.monotonic() >= control.deadline
        has_room = len(middle.tokens) < plan.request.limits.max_tokens
        has_end = self._preset.null_token is not None
        is_interrupted = is_late or middle.is_cut_short
        return middle.is_open and has_room and has_end and not is_interrupted and not plan.healing.right

    def _extend(self, middle: Middle, plan: Plan, control: Control) -> int:
        """One further canvas behind the middle so far; how many passes that took."""
        ids = plan.prompt.encoded + plan.prompt.tail + middle.tokens
        num_tail = min(self._preset.tail, len(ids) - 1)
        prompt = Prompt(encoded=ids[: len(ids) - num_tail], tail=ids[len(ids) - num_tail :], head=plan.prompt.head)
        self._model.encode(prompt.encoded)
        further = replace(plan, prompt=prompt, healing=Healing())
        return self._denoise([middle], further, self._canvases.schedule(plan.request), control)

    def _denoise(self, middles: list[Middle], plan: Plan, schedule: LinearTemperature, control: Control) -> int:
        """Denoise one canvas for each of `middles`, which all stand behind the encoded prompt, and append to them; how
        many passes that took."""
        room = plan.request.limits.max_tokens - len(middles[0].tokens)
        num_slots = min(plan.num_slots, room)
        tail, head = plan.prompt.tail, plan.prompt.head
        length = self._canvases.length(plan.mode)
        policy = self._canvases.policy(length, self._constraint(plan), plan.max_steps, schedule)
        rows = self._canvases.run(
            tail + [0] * num_slots + head,
            slice(len(tail), len(tail) + num_slots),
            policy,
            [middle.seed_of_next for middle in middles],
            control,
            self._watcher(middles[0], plan, control),
        )
        for middle, row in zip(middles, rows, strict=True):
            self._append(middle, row, plan.mode)
        return max(row.num_steps for row in rows)

    def _watcher(self, middle: Middle, plan: Plan, control: Control) -> DraftMaker | None:
        if control.on_draft is None:
            return None
        return DraftMaker(
            self._codec,
            self._canvases.length(plan.mode),
            plan.healing,
            control.on_draft,
            before=tuple(middle.tokens),
            num_steps=middle.num_steps,
        )

    def _append(self, middle: Middle, row: Row, mode: Mode) -> None:
        kept = self._canvases.length(mode).cut(row.tokens)
        has_line_end = mode is Mode.LINE and any(bool(self._canvases.newlines[token]) for token in kept)
        middle.is_open = bool(row.tokens) and len(kept) == len(row.tokens) and not has_line_end
        middle.tokens = middle.tokens + kept
        middle.log_probs = middle.log_probs + row.log_probs[: len(kept) + 1]
        middle.num_steps += row.num_steps
        middle.ended = row.ended

    def read(self, tokens: list[int], plan: Plan) -> str:
        """The text that tokens of the slots offer in the plan's hole; empty where that is nothing."""
        text: str | None = self._codec.text_of(tokens)
        if plan.healing.is_needed:
            text = cut_healed(text or "", plan.healing)
        return read_out(text or "", plan.mode, plan.request.prefix, plan.request.suffix)

    def _constraint(self, plan: Plan) -> Constraint:
        banned = self._canvases.banned
        if not plan.healing.is_needed:
            return banned
        affixes = AffixConstraint(plan.healing, self._codec, self._preset.null_token)
        if plan.mode is Mode.LINE and plan.healing.right:  # the line goes on right of the hole
            return AllOf((banned, Banned(tokens=self._canvases.newlines), affixes))
        return AllOf((banned, affixes))


def _unwatched(control: Control) -> Control:
    """Drafts are those of the first candidate."""
    return replace(control, on_draft=None)


def _finish(middles: Sequence[Middle], leading: Middle, *, is_empty: bool) -> Finish:
    if any(middle.ended is Ended.CANCELLED for middle in middles):
        return Finish.CANCELLED
    return finish_of(leading.ended, is_empty=is_empty, is_open=leading.is_open)
