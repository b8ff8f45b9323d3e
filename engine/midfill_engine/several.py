"""Several holes of one text, filled in order: each sees what was put into those before it. Those that fit on one canvas
are filled together, and see each other as they develop (`together`).

Knows a model only as something that fills the holes of a request, so that whatever holds there (nothing given is
changed, no echo of what stands right around a hole, cancellation within a step) holds for all of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from midfill_engine.api import Candidate, Draft, FillRequest, FillResult, Finish, OnDraft, Timings
from midfill_engine.core import Control

FillSome = Callable[[FillRequest, Control], FillResult]
NumTogether = Callable[[FillRequest], int]
"""How many of a request's first holes go on one canvas."""

_WORST_FIRST = (Finish.CANCELLED, Finish.DEADLINE, Finish.LENGTH, Finish.STEPS)


@dataclass(frozen=True, kw_only=True)
class _Filling:
    """One candidate on its way: the texts of the holes filled so far, and how sure the model was of those with text."""

    seed: int
    texts: tuple[str, ...] = ()
    confidences: tuple[float, ...] = ()

    def with_holes(self, candidate: Candidate) -> _Filling:
        confidences = (*self.confidences, candidate.confidence)
        return replace(self, texts=(*self.texts, *candidate.texts), confidences=confidences)

    def left_empty(self, num_holes: int) -> _Filling:
        return replace(self, texts=(*self.texts, *[""] * num_holes))


def one_by_one(_request: FillRequest) -> int:
    """Every hole has a canvas to itself."""
    return 1


def fill_in_order(
    request: FillRequest, control: Control, fill_some: FillSome, num_together: NumTogether = one_by_one
) -> FillResult:
    """Fill the holes of `request` one after the other, or as many at once as `num_together` says. The candidates of the
    first are carried on one by one; a hole for which nothing is worth offering stays empty, as do those that a deadline
    leaves no time for."""
    first = holes_request(request, (), num_together(request))
    results = [fill_some(first, _control_of(control, hole=0, num_steps=0))]
    fillings = _begun(request, first, results[0])
    done = [_carry_on(fillings[0], request, control, fill_some, num_together, results)]
    num_of_best = len(results)
    for filling in fillings[1:]:
        done.append(_carry_on(filling, request, replace(control, on_draft=None), fill_some, num_together, results))
    return _merged(done, results, num_of_best)


def holes_request(request: FillRequest, texts: tuple[str, ...], num_holes: int = 1) -> FillRequest:
    """The next `num_holes` alone, those before them filled with `texts` and those behind them still empty."""
    num_filled = len(texts)
    last = num_filled + num_holes - 1
    filled = "".join(text + between for text, between in zip(texts, request.between, strict=False))
    return replace(
        request,
        prefix=request.prefix + filled,
        suffix="".join(request.between[last:]) + request.suffix,
        between=request.between[num_filled:last],
        selection="" if num_filled else request.selection,
    )


def _begun(request: FillRequest, first: FillRequest, result: FillResult) -> list[_Filling]:
    if not result.candidates:
        return [_Filling(seed=request.seed).left_empty(len(first.between) + 1)]
    seeds = ((request.seed + i) % 2**63 for i in range(len(result.candidates)))
    return [_Filling(seed=seed).with_holes(each) for seed, each in zip(seeds, result.candidates, strict=True)]


def _carry_on(
    filling: _Filling,
    request: FillRequest,
    control: Control,
    fill_some: FillSome,
    num_together: NumTogether,
    results: list[FillResult],
) -> _Filling:
    """`filling` with all its holes; every result on the way joins `results`."""
    while len(filling.texts) <= len(request.between):
        rest = holes_request(request, filling.texts, len(request.between) + 1 - len(filling.texts))
        if _is_over(results[-1], control):
            return filling.left_empty(len(rest.between) + 1)
        num_holes = num_together(rest)
        some = replace(holes_request(request, filling.texts, num_holes), seed=filling.seed, num_candidates=1)
        num_steps = sum(result.num_steps for result in results)
        results.append(fill_some(some, _control_of(control, hole=len(filling.texts), num_steps=num_steps)))
        best = next(iter(results[-1].candidates), None)
        filling = filling.with_holes(best) if best else filling.left_empty(num_holes)
    return filling


def _is_over(last: FillResult, control: Control) -> bool:
    is_late = control.deadline is not None and time.monotonic() >= control.deadline
    return is_late or last.finish in (Finish.CANCELLED, Finish.DEADLINE)


def _control_of(control: Control, *, hole: int, num_steps: int) -> Control:
    """Drafts tell which hole they are of, and their steps go on counting."""
    on_draft = control.on_draft
    return control if on_draft is None else replace(control, on_draft=of_hole(on_draft, hole, num_steps))


def of_hole(on_draft: OnDraft, hole: int, num_steps: int) -> OnDraft:
    def tell(draft: Draft) -> None:
        on_draft(replace(draft, hole=hole + draft.hole, step=num_steps + draft.step))

    return tell


def _merged(fillings: list[_Filling], results: list[FillResult], num_of_best: int) -> FillResult:
    is_cancelled = any(result.finish is Finish.CANCELLED for result in results)
    candidates = () if is_cancelled else _candidates(fillings)
    of_best = results[:num_of_best]
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
