"""Of what was denoised, and of what the causal head adds, what is worth offering: read, merged, judged, best first.

middles ─▶ texts, each once ─▶ with the causal head's drafts, by likelihood in their place ─▶ sound ones first
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from midfill_engine.api import Candidate, FillRequest, Mode
from midfill_engine.beam import Beam, BeamDraft
from midfill_engine.causal import CausalHead, evidence_of
from midfill_engine.confidence import Calibration, Evidence, shares
from midfill_engine.core import Control
from midfill_engine.correct import sift
from midfill_engine.denoise.loop import Ended
from midfill_engine.presets import Preset
from midfill_engine.prompt import Prompt
from midfill_engine.syntax.gate import Gate
from midfill_engine.tokens import TokenCodec

Read = Callable[[list[int]], str]
"""The text that tokens offer in their hole; empty where that is nothing."""


@dataclass
class Middle:
    """One candidate as it grows, canvas by canvas. `is_open`: the last canvas filled up without an end."""

    seed: int
    tokens: list[int]
    log_probs: list[float]
    num_steps: int = 0
    ended: Ended = Ended.STABLE
    is_open: bool = True

    @property
    def is_cut_short(self) -> bool:
        return self.ended in (Ended.CANCELLED, Ended.DEADLINE)

    @property
    def seed_of_next(self) -> int:
        """Of the next canvas."""
        return (self.seed * 1_000_003 + len(self.tokens)) % 2**63

    @property
    def confidence(self) -> float:
        """Geometric mean of the probabilities of the tokens, the end among them."""
        return math.exp(sum(self.log_probs) / len(self.log_probs)) if self.log_probs else 0.0


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A worthwhile text and the middle it was read from. `is_vetted`: nothing speaks against its syntax."""

    text: str
    confidence: float
    middle: Middle
    evidence: Evidence | None = None
    is_vetted: bool = False


@dataclass(frozen=True, kw_only=True)
class Hole:
    """What a text is offered for. `read` depends on it."""

    request: FillRequest
    mode: Mode
    prompt: Prompt
    read: Read


class Judge:
    """Puts offers in their order. `causal`: the same weights read left to right, where they should draft and judge."""

    def __init__(self, preset: Preset, codec: TokenCodec, causal: CausalHead | None) -> None:
        self._preset = preset
        self._codec = codec
        self._causal = causal

    def offers(self, middles: Sequence[Middle], hole: Hole, control: Control) -> list[Offer]:
        """What may be offered, best first."""
        offers = merged(middles, hole.read)
        if self._causal is not None and not any(middle.is_cut_short for middle in middles):
            offers = self._judged(offers, self._causal, hole, control)
        return sound_first(offers, hole.request) if self._preset.checks_syntax else offers

    def _judged(self, offers: list[Offer], causal: CausalHead, hole: Hole, control: Control) -> list[Offer]:
        """The offers and the causal head's own drafts, the likeliest in its place first."""
        ids = hole.prompt.encoded + hole.prompt.tail
        if len(ids) < 2:
            return offers
        found = {offer.text: offer for offer in offers}
        for draft in causal.drafts(ids, self._beam(hole), control):
            text = hole.read(list(draft.tokens))
            if text and text not in found:
                found[text] = _offer_of(text, draft)
        return self._ranked(list(found.values()), causal, ids, hole.prompt.head)

    def _ranked(self, offers: list[Offer], causal: CausalHead, ids: list[int], after: list[int]) -> list[Offer]:
        """The likeliest in its place first, each as sure as it may be called."""
        middles = [self._codec.ids(offer.text) for offer in offers]
        likelihoods = causal.likelihoods(ids, middles, after)
        total = shares([likelihood.total for likelihood in likelihoods])
        ranked = sorted(zip(offers, middles, likelihoods, total, strict=True), key=lambda entry: -entry[3])
        return [self._rated(offer, evidence_of(like, len(middle), share)) for offer, middle, like, share in ranked]

    def _rated(self, offer: Offer, evidence: Evidence) -> Offer:
        calibration = self._preset.calibration
        confidence = Calibration(calibration).probability(evidence) if calibration else offer.confidence
        return replace(offer, confidence=confidence, evidence=evidence)

    def _beam(self, hole: Hole) -> Beam:
        preset, limit = self._preset, hole.request.limits.max_tokens
        if hole.mode is Mode.LINE:
            return Beam(width=preset.beam_width, max_tokens=min(limit, 2 * preset.line_slots))
        tokens = min(limit, preset.block_slots)
        return Beam(width=preset.beam_width, max_tokens=tokens, max_lines=preset.beam_lines)


def merged(middles: Sequence[Middle], read: Read) -> list[Offer]:
    """Worthwhile texts, duplicates merged: the first middle leads, the others follow by confidence."""
    if any(middle.ended is Ended.CANCELLED for middle in middles):
        return []
    found: dict[str, Offer] = {}
    for middle in middles:
        offer = Offer(text=read(middle.tokens), confidence=middle.confidence, middle=middle)
        same = found.setdefault(offer.text, offer)
        found[offer.text] = replace(same, confidence=max(same.confidence, offer.confidence))
    offers = [offer for offer in found.values() if offer.text]
    return offers[:1] + sorted(offers[1:], key=lambda offer: -offer.confidence)


def sound_first(offers: list[Offer], request: FillRequest) -> list[Offer]:
    """Without what breaks the text around it; who asks for several drafts has that last."""
    if not offers:
        return []
    gate = Gate(request.prefix, request.suffix, request.language)
    sifted = sift(offers, lambda offer: offer.text, gate, request.num_candidates)
    vetted = [replace(offer, is_vetted=True) for offer in sifted.good[: sifted.num_judged]]
    return [*vetted, *sifted.good[sifted.num_judged :], *sifted.bad * (request.num_candidates > 1)]


def candidates_of(offers: Sequence[Offer]) -> tuple[Candidate, ...]:
    """As the api has them."""
    return tuple(Candidate(text=offer.text, confidence=offer.confidence, is_vetted=offer.is_vetted) for offer in offers)


def _offer_of(text: str, draft: BeamDraft) -> Offer:
    middle = Middle(seed=0, tokens=list(draft.tokens), log_probs=[], is_open=False)
    return Offer(text=text, confidence=math.exp(draft.score / (len(draft.tokens) + 1)), middle=middle)
