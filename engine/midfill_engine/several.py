"""Several holes of one text, filled in order: each sees what was put into those before it.

Knows a model only as something that fills one hole, so that whatever holds for one hole (nothing given is changed, no
echo of what stands right around it, cancellation within a step) holds for each of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from midfill_engine.api import Candidate, Draft, FillRequest, FillResult, Finish, OnDraft, Timings
from midfill_engine.core import Control

FillOne = Callable[[FillRequest, Control], FillResult]

_WORST_FIRST = (Finish.CANCELLED, Finish.DEADLINE, Finish.LENGTH, Finish.STEPS)


@dataclass(frozen=True, kw_only=True)
class _Filling:
    """One candidate on its way: the texts of the holes filled so far, and how sure the model was of those with text."""

    seed: int
    texts: tuple[str, ...] = ()
    confidences: tuple[float, ...] = ()

    def with_hole(self, candidate: Candidate | None) -> _Filling:
        if candidate is None:
            return replace(self, texts=(*self.texts, ""))
        confidences = (*self.confidences, candidate.confidence)
        return replace(self, texts=(*self.texts, candidate.text), confidences=confidences)


def fill_in_order(request: FillRequest, control: Control, fill_one: FillOne) -> FillResult:
    """Fill the holes of `request` one after the other. The first hole's candidates are carried on one by one; a hole
    for which nothing is worth offering stays empty, as do those that a deadline leaves no time for."""
    results = [fill_one(hole_request(request, ()), _control_of(control, hole=0, num_steps=0))]
    fillings = _begun(request, results[0])
    done = []
    for filling in fillings:
        watched = control if filling is fillings[0] else replace(control, on_draft=None)
        done.append(_carry_on(filling, request, watched, fill_one, results))
    return _merged(request, done, results)


def hole_request(request: FillRequest, texts: tuple[str, ...]) -> FillRequest:
    """The next hole alone, those before it filled with `texts` and those behind it still empty."""
    num_filled = len(texts)
    filled = "".join(text + between for text, between in zip(texts, request.between, strict=False))
    return replace(
        request,
        prefix=request.prefix + filled,
        suffix="".join(request.between[num_filled:]) + request.suffix,
        between=(),
        selection="" if num_filled else request.selection,
    )


def _begun(request: FillRequest, first: FillResult) -> list[_Filling]:
    candidates: tuple[Candidate | None, ...] = first.candidates or (None,)
    return [_Filling(seed=(request.seed + i) % 2**63).with_hole(candidate) for i, candidate in enumerate(candidates)]


def _carry_on(
    filling: _Filling, request: FillRequest, control: Control, fill_one: FillOne, results: list[FillResult]
) -> _Filling:
    """`filling` with all its holes; every result on the way joins `results`."""
    for hole in range(1, len(request.between) + 1):
        if _is_over(results[-1], control):
            filling = filling.with_hole(None)
            continue
        alone = replace(hole_request(request, filling.texts), seed=filling.seed, num_candidates=1)
        num_steps = sum(result.num_steps for result in results)
        results.append(fill_one(alone, _control_of(control, hole=hole, num_steps=num_steps)))
        filling = filling.with_hole(next(iter(results[-1].candidates), None))
    return filling


def _is_over(last: FillResult, control: Control) -> bool:
    is_late = control.deadline is not None and time.monotonic() >= control.deadline
    return is_late or last.finish in (Finish.CANCELLED, Finish.DEADLINE)


def _control_of(control: Control, *, hole: int, num_steps: int) -> Control:
    """Drafts tell which hole they are of, and their steps go on counting."""
    on_draft = control.on_draft
    return control if on_draft is None else replace(control, on_draft=_of_hole(on_draft, hole, num_steps))


def _of_hole(on_draft: OnDraft, hole: int, num_steps: int) -> OnDraft:
    def tell(draft: Draft) -> None:
        on_draft(replace(draft, hole=hole, step=num_steps + draft.step))

    return tell


def _merged(request: FillRequest, fillings: list[_Filling], results: list[FillResult]) -> FillResult:
    is_cancelled = any(result.finish is Finish.CANCELLED for result in results)
    candidates = () if is_cancelled else _candidates(fillings)
    of_best = results[: len(request.between) + 1]
    return FillResult(
        candidates=candidates,
        finish=_finish(results, is_empty=not candidates),
        num_steps=sum(result.num_steps for result in results),
        num_tokens=sum(result.num_tokens for result in of_best) if candidates else 0,
        num_prompt=sum(result.num_prompt for result in results),
        num_cached=sum(result.num_cached for result in results),
        timings=Timings(
            encode=sum(result.timings.encode for result in results),
            denoise=sum(result.timings.denoise for result in results),
            total=sum(result.timings.total for result in results),
        ),
        preset=results[0].preset,
        note=next((result.note for result in results if result.note), ""),
    )


def _candidates(fillings: list[_Filling]) -> tuple[Candidate, ...]:
    """In the order of the first hole's; none that leaves every hole empty, none twice."""
    unique: dict[tuple[str, ...], Candidate] = {}
    for filling in fillings:
        if any(filling.texts) and filling.texts not in unique:
            unique[filling.texts] = Candidate(
                text=filling.texts[0], texts=filling.texts, confidence=_geometric_mean(filling.confidences)
            )
    return tuple(unique.values())


def _geometric_mean(shares: tuple[float, ...]) -> float:
    if not shares or not all(shares):
        return 0.0
    return math.exp(sum(math.log(share) for share in shares) / len(shares))


def _finish(results: list[FillResult], *, is_empty: bool) -> Finish:
    finishes = {result.finish for result in results}
    if is_empty and Finish.CANCELLED not in finishes:
        return Finish.EMPTY
    return next((finish for finish in _WORST_FIRST if finish in finishes), Finish.COMPLETE)
