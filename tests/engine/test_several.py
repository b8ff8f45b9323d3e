"""Several holes of one text: each as if alone with those before it filled, nothing between them changed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from midfill_engine.api import Candidate, Draft, FillRequest, FillResult, Finish, Limits, Mode, RequestError
from midfill_engine.core import Control
from midfill_engine.filler import Filler
from midfill_engine.models.loading import load
from midfill_engine.presets import find_preset
from midfill_engine.several import fill_in_order, holes_request
from midfill_engine.wire import from_wire, to_wire

PARTS = ("def area(w, h):\n    size = ", "\n    print(size, ", ")\n    return ", "\n\n\nprint(area(2, 3))\n")
REQUEST = FillRequest(prefix=PARTS[0], between=PARTS[1:3], suffix=PARTS[3], mode=Mode.LINE, limits=Limits(max_tokens=8))


@pytest.fixture(scope="module")
def filler() -> Filler:
    preset = find_preset("pocket")
    return Filler(preset, load(preset, "cpu", lambda *_: None))


class Scripted:
    """Fills one hole with the next of its answers, each a text or how the fill ended; remembers what it was asked."""

    def __init__(self, *answers: str | Finish | tuple[str, ...]) -> None:
        self._answers = list(answers)
        self.requests: list[FillRequest] = []

    def __call__(self, request: FillRequest, control: Control) -> FillResult:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if control.on_draft is not None:
            control.on_draft(Draft(step=1, tokens=()))
        if isinstance(answer, Finish):
            return FillResult(candidates=(), finish=answer, num_steps=2)
        texts = (answer,) if isinstance(answer, str) else answer
        candidates = tuple(Candidate(text=text, confidence=0.5) for text in texts)
        return FillResult(candidates=candidates, finish=Finish.COMPLETE, num_steps=2, num_tokens=1)


def fill(*answers: str | Finish | tuple[str, ...], **fields: object) -> tuple[FillResult, Scripted]:
    scripted = Scripted(*answers)
    request = replace(REQUEST, **fields)  # type: ignore[arg-type]
    return fill_in_order(request, Control(), scripted), scripted


def test_each_hole_sees_those_before_it_filled_and_those_behind_it_empty() -> None:
    result, scripted = fill("w * h", "w", "size")
    assert [(r.prefix, r.suffix, r.between) for r in scripted.requests] == [
        (PARTS[0], PARTS[1] + PARTS[2] + PARTS[3], ()),
        (PARTS[0] + "w * h" + PARTS[1], PARTS[2] + PARTS[3], ()),
        (PARTS[0] + "w * h" + PARTS[1] + "w" + PARTS[2], PARTS[3], ()),
    ]
    assert (result.candidates[0].texts, result.text) == (("w * h", "w", "size"), "w * h")
    assert (result.finish, result.num_steps, result.num_tokens) == (Finish.COMPLETE, 6, 3)


def test_a_hole_without_an_offer_stays_empty_and_the_others_go_on() -> None:
    result, _ = fill(Finish.EMPTY, "w", "size")
    assert (result.candidates[0].texts, result.finish) == (("", "w", "size"), Finish.COMPLETE)


def test_all_holes_empty_is_no_offer() -> None:
    result, _ = fill(Finish.EMPTY, Finish.EMPTY, Finish.EMPTY)
    assert (result.candidates, result.finish) == ((), Finish.EMPTY)


@pytest.mark.parametrize("num_before", [0, 1, 2])
def test_cancelled_in_any_hole_gives_nothing_and_asks_no_more(num_before: int) -> None:
    result, scripted = fill(*["x"] * num_before, Finish.CANCELLED)
    assert (result.candidates, result.finish) == ((), Finish.CANCELLED)
    assert len(scripted.requests) == num_before + 1


def test_a_deadline_gives_what_there_is() -> None:
    scripted = Scripted("w * h")
    result = fill_in_order(REQUEST, Control(deadline=time.monotonic() - 1.0), scripted)
    assert (result.candidates[0].texts, len(scripted.requests)) == (("w * h", "", ""), 1)


def test_the_first_holes_candidates_are_carried_on_and_merged() -> None:
    answers = (("a", "b", "a"), "1", "2", "3", "4", "1", "2")
    result, scripted = fill(*answers, num_candidates=3)
    assert [candidate.texts for candidate in result.candidates] == [("a", "1", "2"), ("b", "3", "4")]
    assert [request.seed for request in scripted.requests] == [0, 0, 0, 1, 1, 2, 2]


def test_drafts_tell_their_hole_and_count_their_steps_on() -> None:
    drafts: list[Draft] = []
    fill_in_order(REQUEST, Control(on_draft=drafts.append), Scripted("a", "b", "c"))
    assert [(draft.hole, draft.step) for draft in drafts] == [(0, 1), (1, 3), (2, 5)]


def test_with_the_shipped_model_each_hole_is_what_it_is_alone(filler: Filler) -> None:
    texts = filler.fill(REQUEST, Control()).candidates[0].texts
    assert len(texts) == 3
    for hole, text in enumerate(texts):
        assert filler.fill(holes_request(REQUEST, texts[:hole]), Control()).text == text


@pytest.mark.parametrize("num_asked", [0, 1, 3, 6])
def test_the_shipped_model_stops_at_any_step(filler: Filler, num_asked: int) -> None:
    result = filler.fill(REQUEST, Control(is_cancelled=_after(num_asked)))
    assert (result.candidates, result.finish) == ((), Finish.CANCELLED)


def _after(num_asked: int) -> Callable[[], bool]:
    asked = iter(range(num_asked))
    return lambda: next(asked, None) is None


def test_they_go_over_the_wire() -> None:
    assert from_wire(to_wire(REQUEST), FillRequest) == REQUEST
    candidate = Candidate(text="a", texts=("a", "", "b"), confidence=0.5)
    assert from_wire(to_wire(candidate), Candidate) == candidate
    assert from_wire({"text": "a", "confidence": 0.5}, Candidate).texts == ("a",)


def test_the_first_text_is_the_text() -> None:
    with pytest.raises(RequestError, match="first of texts"):
        Candidate(text="a", texts=("b",), confidence=0.5)
