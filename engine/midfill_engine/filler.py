"""A loaded model that fills: request → prompt → canvas → denoise → read-out → candidates.

The flow is one way: everything about the text is settled in a `Plan` before the model is asked. When a canvas fills up
and the model has not ended the middle, the middle so far joins the prefix and a further canvas goes on behind it.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from midfill_engine.api import Candidate, EngineOptions, FillRequest, FillResult, Finish, Mode, Timings
from midfill_engine.beam import Beam, BeamDraft, Branching
from midfill_engine.causal import CausalHead, evidence_of
from midfill_engine.confidence import Calibration, Evidence, shares
from midfill_engine.context import Surroundings
from midfill_engine.core import Control, OnProgress
from midfill_engine.correct import sift
from midfill_engine.denoise.constraint import AllOf, Banned, Constraint
from midfill_engine.denoise.length import FixedLength, Length, NullLength
from midfill_engine.denoise.loop import Ended, Interrupts, Policy, Row, Slots, StepView, denoise
from midfill_engine.denoise.noise import UniformNoise
from midfill_engine.denoise.schedule import LinearTemperature
from midfill_engine.denoise.stop import StableAndConfident
from midfill_engine.drafts import DraftMaker
from midfill_engine.errors import ResourceError
from midfill_engine.heal import AffixConstraint, Healing, cut_healed, find_healing
from midfill_engine.models.base import BlockModel
from midfill_engine.models.loading import Loaded, load
from midfill_engine.presets import Preset, find_preset
from midfill_engine.prompt import Prompt, PromptShape, build_prompt
from midfill_engine.readout import read_out
from midfill_engine.several import fill_in_order, of_hole
from midfill_engine.shape import resolve_mode
from midfill_engine.syntax.gate import Gate
from midfill_engine.together import DraftsOfEach, Layout, Sizes, candidate_of, lay_out, num_that_fit, read_each

_MOST_SPARES = 4
_EXPLORE = LinearTemperature(t_min=0.4, t_max=0.8)  # further candidates of a greedy preset: DiffusionGemma's own range

_MAX_HALVINGS = 2
_SHORT_OF_MEMORY = "memory is short: from now on the model sees less of the text; close other programs and restart it"

logger = logging.getLogger(__name__)


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


@dataclass(frozen=True, kw_only=True)
class _Offer:
    """A worthwhile text and the middle it was read from."""

    text: str
    confidence: float
    middle: _Middle
    evidence: Evidence | None = None
    is_vetted: bool = False


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
        self._preset = preset
        self._model = loaded.model
        self._codec = loaded.codec
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
        self._num_halvings = 0  # of context and canvas; kept, so that not every fill runs out of memory anew
        padding = range(loaded.codec.num_tokens, loaded.model.vocab_size)  # rows of the embedding that are no token
        self._banned = Banned(tokens=self._marks({*loaded.codec.textless, *padding} - {preset.null_token}))
        newlines = {i for i, piece in enumerate(loaded.codec.token_bytes) if b"\n" in piece or b"\r" in piece}
        self._newlines = self._marks(newlines)
        self._causal = (
            CausalHead(causal_model, self._marks(loaded.codec.textless), self._newlines) if causal_model else None
        )

    @property
    def preset(self) -> str:
        return self._preset.name

    @property
    def device(self) -> str:
        return str(self._model.device)

    @property
    def banned(self) -> torch.Tensor:
        """Tokens that never stand in a slot, [V] bool."""
        return self._banned.tokens

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
        return num_that_fit(request, self._preset.tail + self._preset.head, self._sizes, self._codec)

    @property
    def _sizes(self) -> Sizes:
        preset, halvings = self._preset, self._num_halvings
        return Sizes(
            canvas=preset.canvas >> halvings,
            max_holes=preset.max_holes,
            line_slots=max(1, preset.line_slots >> halvings),
            block_slots=max(1, preset.block_slots >> halvings),
        )

    def _fill_hole(self, request: FillRequest, control: Control) -> FillResult:
        began = time.perf_counter()
        note = ""
        while True:
            result = self._try_fill(request, control, began)
            if result is not None:
                return replace(result, note=note)
            # Only here, where the failed try's tensors are gone with its frames.
            self._model.forget()
            if self._num_halvings == _MAX_HALVINGS:
                raise ResourceError("not enough memory for this fill: ask for less context or fewer candidates")
            self._num_halvings += 1
            note = _SHORT_OF_MEMORY
            logger.warning("out of memory: context and canvas halved (%d of %d)", self._num_halvings, _MAX_HALVINGS)

    def _try_fill(self, request: FillRequest, control: Control, began: float) -> FillResult | None:
        """The fill; None where the memory did not suffice."""
        try:
            with torch.inference_mode():
                if request.between:
                    return self._fill_together(request, control, began)
                return self._fill(self.plan(request), control, began)
        except (MemoryError, torch.OutOfMemoryError):
            return None

    def judge(self, request: FillRequest, control: Control) -> tuple[str, Evidence] | None:
        """The leading text of a fill and what is known of it; None where nothing is offered or nothing judges."""
        with torch.inference_mode():
            plan = self.plan(request)
            self._model.encode(plan.prompt.encoded)
            offers = self._all_offers(self._middles(plan, control)[0], plan, control)
        leading = offers[0] if offers else None
        return (leading.text, leading.evidence) if leading is not None and leading.evidence is not None else None

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
            prompt=self._prompt(request, healing),
            num_slots=max(1, num_slots >> self._num_halvings),
            max_steps=request.limits.max_steps or (mode is Mode.LINE and preset.line_steps) or preset.max_steps,
        )

    def _prompt(self, request: FillRequest, healing: Healing) -> Prompt:
        shape = replace(self._shape, context=self._shape.context >> self._num_halvings)
        surroundings = Surroundings(
            language=request.language,
            snippets=request.snippets,
            selection=request.selection,
            instruction=request.instruction,
        )
        return build_prompt(request.prefix, request.suffix, healing, shape, self._codec, surroundings)

    def _fill(self, plan: Plan, control: Control, began: float) -> FillResult:
        encoded = self._model.encode(plan.prompt.encoded)
        encode_s = time.perf_counter() - began
        middles, num_steps = self._middles(plan, control)
        offers = self._all_offers(middles, plan, control)
        leading = offers[0].middle if offers else middles[0]
        total = time.perf_counter() - began
        return FillResult(
            candidates=_candidates(offers[: plan.request.num_candidates]),
            spares=_candidates(offers[plan.request.num_candidates :][:_MOST_SPARES]),
            finish=_finish(middles, leading, is_empty=not offers),
            num_steps=num_steps,
            num_tokens=len(leading.tokens) if offers else 0,
            num_prompt=encoded.num_tokens,
            num_cached=encoded.num_cached,
            timings=Timings(encode=encode_s, denoise=total - encode_s, total=total),
            preset=self._preset.name,
        )

    def _fill_together(self, request: FillRequest, control: Control, began: float) -> FillResult:
        """All holes of a request on one canvas. A hole of which a token is cut is not healed here."""
        preset = self._preset
        prompt = self._prompt(request, Healing())
        layout = lay_out(request, prompt.tail, prompt.head, self._sizes, self._codec)
        length = layout.length(self._length)
        encoded = self._model.encode(prompt.encoded)
        encode_s = time.perf_counter() - began
        seeds = [(request.seed + i) % 2**63 for i in range(request.num_candidates)]
        schedule = self._schedule(request)
        if schedule.is_greedy and request.temperature is None and len(seeds) > 1:
            schedule = _EXPLORE
        policy = self._policy(length, self._banned, request.limits.max_steps or preset.max_steps, schedule)
        watch = self._watcher_of_each(layout, control)
        rows = self._run(layout.ids, layout.slots.to(self._model.device), policy, seeds, control, watch)
        is_cancelled = any(row.ended is Ended.CANCELLED for row in rows)
        found: dict[tuple[str, ...], Candidate] = {}
        for row in [] if is_cancelled else rows:
            parts = length.cut_each(row.tokens)
            texts = read_each(request, layout.modes, [self._codec.text_of(part) for part in parts], read_out)
            if any(texts):
                found.setdefault(texts, candidate_of(texts, row.log_probs))
        total = time.perf_counter() - began
        return FillResult(
            candidates=tuple(found.values()),
            finish=_finish_of_row(rows[0], is_empty=not found),
            num_steps=max(row.num_steps for row in rows),
            num_tokens=sum(map(len, length.cut_each(rows[0].tokens))) if found else 0,
            num_prompt=encoded.num_tokens,
            num_cached=encoded.num_cached,
            timings=Timings(encode=encode_s, denoise=total - encode_s, total=total),
            preset=preset.name,
        )

    def _watcher_of_each(self, layout: Layout, control: Control) -> DraftsOfEach | None:
        if control.on_draft is None:
            return None
        makers = [
            DraftMaker(self._codec, self._length(mode), Healing(), of_hole(control.on_draft, hole, 0))
            for hole, mode in enumerate(layout.modes)
        ]
        return DraftsOfEach(layout.sizes, makers)

    def _middles(self, plan: Plan, control: Control) -> tuple[list[_Middle], int]:
        """Every candidate denoised to its end, and how many passes that took."""
        middles, num_steps = self._first_canvases(plan, control)
        for middle in middles:
            while self._goes_on(middle, plan, control):
                num_steps += self._extend(middle, plan, control if middle is middles[0] else _unwatched(control))
        return middles, num_steps

    def _all_offers(self, middles: list[_Middle], plan: Plan, control: Control) -> list[_Offer]:
        """What may be offered, best first: what was denoised, and what else is found where the weights can judge."""
        offers = self._offers(middles, plan)
        if self._causal is not None and not _is_interrupted(middles):
            offers = self._judged(offers, self._causal, plan, control)
        return self._sound_first(offers, plan.request) if self._preset.checks_syntax else offers

    def _sound_first(self, offers: list[_Offer], request: FillRequest) -> list[_Offer]:
        """Without what breaks the text around it; who asks for several drafts has that last."""
        if not offers:
            return []
        gate = Gate(request.prefix, request.suffix, request.language)
        sifted = sift(offers, lambda offer: offer.text, gate, request.num_candidates)
        vetted = [replace(offer, is_vetted=True) for offer in sifted.good[: sifted.num_judged]]
        return [*vetted, *sifted.good[sifted.num_judged :], *sifted.bad * (request.num_candidates > 1)]

    def _first_canvases(self, plan: Plan, control: Control) -> tuple[list[_Middle], int]:
        """The first canvas of every candidate, in one batch, and how many passes that took; a greedy preset's further
        candidates are sampled."""
        request = plan.request
        seeds = [(request.seed + i) % 2**63 for i in range(request.num_candidates)]
        middles = [_Middle(seed=seed, tokens=[], log_probs=[]) for seed in seeds]
        schedule = self._schedule(request)
        if schedule.is_greedy and request.temperature is None and len(middles) > 1:
            num_steps = self._denoise(middles[:1], plan, schedule, control)
            return middles, num_steps + self._denoise(middles[1:], plan, _EXPLORE, _unwatched(control))
        return middles, self._denoise(middles, plan, schedule, control)

    def _goes_on(self, middle: _Middle, plan: Plan, control: Control) -> bool:
        is_late = control.deadline is not None and time.monotonic() >= control.deadline
        is_interrupted = is_late or middle.ended in (Ended.CANCELLED, Ended.DEADLINE)
        has_room = len(middle.tokens) < plan.request.limits.max_tokens
        has_end = self._preset.null_token is not None
        return middle.is_open and has_room and has_end and not is_interrupted and not plan.healing.right

    def _extend(self, middle: _Middle, plan: Plan, control: Control) -> int:
        """One further canvas behind the middle so far; how many passes that took."""
        ids = plan.prompt.encoded + plan.prompt.tail + middle.tokens
        num_tail = min(self._preset.tail, len(ids) - 1)
        prompt = Prompt(encoded=ids[: len(ids) - num_tail], tail=ids[len(ids) - num_tail :], head=plan.prompt.head)
        self._model.encode(prompt.encoded)
        further = replace(plan, prompt=prompt, healing=Healing())
        return self._denoise([middle], further, self._schedule(plan.request), control)

    def _denoise(self, middles: list[_Middle], plan: Plan, schedule: LinearTemperature, control: Control) -> int:
        """Denoise one canvas for each of `middles`, which all stand behind the encoded prompt, and append to them; how
        many passes that took."""
        room = plan.request.limits.max_tokens - len(middles[0].tokens)
        num_slots = min(plan.num_slots, room)
        tail, head = plan.prompt.tail, plan.prompt.head
        slots = slice(len(tail), len(tail) + num_slots)
        policy = self._policy(self._length(plan.mode), self._constraint(plan), plan.max_steps, schedule)
        seeds = [_seed_of_next(middle) for middle in middles]
        watch = self._watcher(middles[0], plan, control)
        rows = self._run(tail + [0] * num_slots + head, slots, policy, seeds, control, watch)
        for middle, row in zip(middles, rows, strict=True):
            self._append(middle, row, plan.mode)
        return max(row.num_steps for row in rows)

    def _policy(self, length: Length, constraint: Constraint, max_steps: int, schedule: LinearTemperature) -> Policy:
        preset = self._preset
        return Policy(
            noise=UniformNoise(first=preset.first_noise_id, last=self._codec.num_tokens - 1),
            max_steps=max_steps,
            entropy_bound=preset.entropy_bound,
            is_held_free=preset.is_held_free,
            keeps_pace=preset.keeps_pace,
            schedule=schedule,
            stop=StableAndConfident(stability=preset.stability, confidence=preset.confidence),
            length=length,
            constraint=constraint,
        )

    def _run(
        self,
        canvas: list[int],
        slots: Slots,
        policy: Policy,
        seeds: list[int],
        control: Control,
        on_step: Callable[[StepView], None] | None,
    ) -> list[Row]:
        """Denoise a row for each seed: the same whatever else is in the batch."""
        ids = torch.tensor([canvas] * len(seeds), device=self._model.device)
        generators = [torch.Generator(device=self._model.device).manual_seed(seed) for seed in seeds]
        interrupts = Interrupts(is_cancelled=control.is_cancelled, deadline=control.deadline, on_step=on_step)
        return denoise(self._model, ids, slots, policy, generators, interrupts)

    def _watcher(self, middle: _Middle, plan: Plan, control: Control) -> DraftMaker | None:
        if control.on_draft is None:
            return None
        return DraftMaker(
            self._codec,
            self._length(plan.mode),
            plan.healing,
            control.on_draft,
            before=tuple(middle.tokens),
            num_steps=middle.num_steps,
        )

    def _append(self, middle: _Middle, row: Row, mode: Mode) -> None:
        kept = self._length(mode).cut(row.tokens)
        has_line_end = mode is Mode.LINE and any(bool(self._newlines[token]) for token in kept)
        middle.is_open = bool(row.tokens) and len(kept) == len(row.tokens) and not has_line_end
        middle.tokens = middle.tokens + kept
        middle.log_probs = middle.log_probs + row.log_probs[: len(kept) + 1]
        middle.num_steps += row.num_steps
        middle.ended = row.ended

    def _offers(self, middles: list[_Middle], plan: Plan) -> list[_Offer]:
        """Worthwhile texts, duplicates merged: the first row leads, the others follow by confidence."""
        found: dict[str, _Offer] = {}
        for middle in middles:
            if middle.ended is Ended.CANCELLED:
                return []
            offer = _Offer(text=self.read(middle.tokens, plan), confidence=_confidence(middle), middle=middle)
            same = found.setdefault(offer.text, offer)
            found[offer.text] = replace(same, confidence=max(same.confidence, offer.confidence))
        offers = [offer for offer in found.values() if offer.text]
        return offers[:1] + sorted(offers[1:], key=lambda offer: -offer.confidence)

    def _judged(self, offers: list[_Offer], causal: CausalHead, plan: Plan, control: Control) -> list[_Offer]:
        """The offers and the causal head's own drafts, the likeliest in its place first."""
        ids = plan.prompt.encoded + plan.prompt.tail
        if len(ids) < 2:
            return offers
        found = {offer.text: offer for offer in offers}
        for draft in causal.drafts(ids, self._beam(plan), control):
            text = self.read(list(draft.tokens), plan)
            if text and text not in found:
                found[text] = _offer_of(text, draft)
        return self._ranked(list(found.values()), causal, ids, plan)

    def _ranked(self, offers: list[_Offer], causal: CausalHead, ids: list[int], plan: Plan) -> list[_Offer]:
        """The likeliest in its place first, each as sure as it may be called."""
        middles, after = [self._codec.ids(offer.text) for offer in offers], plan.prompt.head
        likelihoods = causal.likelihoods(ids, middles, after)
        total = shares([likelihood.total for likelihood in likelihoods])
        ranked = sorted(zip(offers, middles, likelihoods, total, strict=True), key=lambda entry: -entry[3])
        return [self._rated(offer, evidence_of(like, len(middle), share)) for offer, middle, like, share in ranked]

    def _rated(self, offer: _Offer, evidence: Evidence) -> _Offer:
        calibration = self._preset.calibration
        confidence = Calibration(calibration).probability(evidence) if calibration else offer.confidence
        return replace(offer, confidence=confidence, evidence=evidence)

    def _beam(self, plan: Plan) -> Beam:
        preset, limit = self._preset, plan.request.limits.max_tokens
        if plan.mode is Mode.LINE:
            return Beam(width=preset.beam_width, max_tokens=min(limit, 2 * preset.line_slots))
        tokens = min(limit, preset.block_slots)
        return Beam(width=preset.beam_width, max_tokens=tokens, max_lines=preset.beam_lines)

    def read(self, tokens: list[int], plan: Plan) -> str:
        """The text that tokens of the slots offer in the plan's hole; empty where that is nothing."""
        text: str | None = self._codec.text_of(tokens)
        if plan.healing.is_needed:
            text = cut_healed(text or "", plan.healing)
        return read_out(text or "", plan.mode, plan.request.prefix, plan.request.suffix)

    def _schedule(self, request: FillRequest) -> LinearTemperature:
        if request.temperature is None:
            return LinearTemperature(t_min=self._preset.t_min, t_max=self._preset.t_max)
        return LinearTemperature(t_min=request.temperature / 2, t_max=request.temperature)

    def _length(self, mode: Mode) -> Length:
        if self._preset.null_token is None:
            return FixedLength()
        return NullLength(null=self._preset.null_token, enders=self._newlines if mode is Mode.LINE else None)

    def _constraint(self, plan: Plan) -> Constraint:
        if not plan.healing.is_needed:
            return self._banned
        affixes = AffixConstraint(plan.healing, self._codec, self._preset.null_token)
        if plan.mode is Mode.LINE and plan.healing.right:  # the line goes on right of the hole
            return AllOf((self._banned, Banned(tokens=self._newlines), affixes))
        return AllOf((self._banned, affixes))

    def _marks(self, ids: set[int] | frozenset[int | None]) -> torch.Tensor:
        """[V] bool, True at `ids`."""
        marks = torch.zeros(self._model.vocab_size, dtype=torch.bool)
        marks[torch.tensor(sorted(i for i in ids if i is not None), dtype=torch.long)] = True
        return marks.to(self._model.device)


def _seed_of_next(middle: _Middle) -> int:
    """Of a candidate's next canvas."""
    return (middle.seed * 1_000_003 + len(middle.tokens)) % 2**63


def _confidence(middle: _Middle) -> float:
    """Geometric mean of the probabilities of the tokens, the end among them."""
    return math.exp(sum(middle.log_probs) / len(middle.log_probs)) if middle.log_probs else 0.0


def _offer_of(text: str, draft: BeamDraft) -> _Offer:
    num_tokens = len(draft.tokens)
    middle = _Middle(seed=0, tokens=list(draft.tokens), log_probs=[], is_open=False)
    return _Offer(text=text, confidence=math.exp(draft.score / (num_tokens + 1)), middle=middle)


def _is_interrupted(middles: list[_Middle]) -> bool:
    return any(middle.ended in (Ended.CANCELLED, Ended.DEADLINE) for middle in middles)


def _unwatched(control: Control) -> Control:
    """Drafts are those of the first candidate."""
    return replace(control, on_draft=None)


def _candidates(offers: list[_Offer]) -> tuple[Candidate, ...]:
    return tuple(Candidate(text=offer.text, confidence=offer.confidence, is_vetted=offer.is_vetted) for offer in offers)


def _finish_of_row(row: Row, *, is_empty: bool) -> Finish:
    if row.ended is Ended.CANCELLED:
        return Finish.CANCELLED
    if is_empty:
        return Finish.EMPTY
    return {Ended.DEADLINE: Finish.DEADLINE, Ended.STEPS: Finish.STEPS}.get(row.ended, Finish.COMPLETE)


def _finish(middles: list[_Middle], leading: _Middle, *, is_empty: bool) -> Finish:
    if any(middle.ended is Ended.CANCELLED for middle in middles):
        return Finish.CANCELLED
    if is_empty:
        return Finish.EMPTY
    if leading.ended is Ended.DEADLINE:
        return Finish.DEADLINE
    if leading.is_open:
        return Finish.LENGTH
    return Finish.STEPS if leading.ended is Ended.STEPS else Finish.COMPLETE
