"""Which drafts are offered, by what they do to the text: over a scripted model, and the sifting alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from midfill_engine.api import FillRequest, Finish, Mode
from midfill_engine.core import Control
from midfill_engine.correct import sift
from midfill_engine.filler import Filler
from midfill_engine.presets import without
from midfill_engine.syntax.gate import Gate, Verdict
from support.scripted_model import ScriptedModel, canvas, loaded_of, preset_of

DRAFTS = ["1", "1 1", "f(", "(2)", "=", "a", "x)"]


def texts(said: list[str], num_candidates: int, preset: object = None, language: str = "python") -> list[str]:
    first, *rows = [canvas(text, end=True) for text in said]
    model = ScriptedModel([first], rows=rows)
    request = FillRequest(
        prefix="x = ",
        suffix="\ny = 2\n",
        mode=Mode.LINE,
        language=language,
        num_candidates=num_candidates,
        temperature=0.0,
    )
    filler = Filler(preset or preset_of(), loaded_of(model))  # type: ignore[arg-type]
    result = filler.fill(request, Control())
    assert bool(result.candidates) is (result.finish is not Finish.EMPTY)
    return [candidate.text for candidate in result.candidates]


def test_a_draft_that_breaks_the_text_is_not_offered() -> None:
    assert texts(["1"], 1) == ["1"]
    assert texts(["1 1"], 1) == []


def test_who_asks_for_several_has_what_breaks_the_text_last() -> None:
    assert texts(["1 1", "2"], 2) == ["2", "1 1"]
    assert texts(["1 1"], 2) == ["1 1"]


def test_what_nobody_can_judge_is_offered() -> None:
    assert texts(["1 1"], 1, language="") == ["1 1"]
    assert texts(["f("], 1) == ["f("]


def test_without_the_check_the_likeliest_is_offered() -> None:
    assert texts(["1 1"], 1, without(preset_of(), ["checks_syntax"])) == ["1 1"]


@given(st.lists(st.sampled_from(DRAFTS), unique=True), st.integers(1, 8))
def test_sound_ones_come_first_and_nothing_else_is_changed(drafts: list[str], num_wanted: int) -> None:
    """No draft is lost; what is judged alike keeps its order; with all wanted the order is that of the verdicts."""
    gate = Gate("x = ", "\ny = 2\n", "python")
    sifted = sift(drafts, str, gate, num_wanted)
    assert sorted([*sifted.good, *sifted.bad]) == sorted(drafts)
    assert all(gate.verdict(draft) is Verdict.WORSE for draft in sifted.bad)
    num_sound = sum(gate.verdict(draft) is Verdict.SOUND for draft in drafts)
    leading = sifted.good[: min(num_sound, num_wanted)]
    assert leading == [draft for draft in drafts if gate.verdict(draft) is Verdict.SOUND][: len(leading)]
    if num_wanted > len(drafts):
        assert [*sifted.good, *sifted.bad] == sorted(drafts, key=gate.verdict)


def test_a_candidate_says_whether_it_was_judged() -> None:
    """The language server does not judge again what was judged here."""
    first, *rows = [canvas(text, end=True) for text in ("1 1", "2")]
    request = FillRequest(
        prefix="x = ", suffix="\n", mode=Mode.LINE, language="python", num_candidates=2, temperature=0.0
    )
    model = ScriptedModel([first], rows=rows)
    result = Filler(preset_of(), loaded_of(model)).fill(request, Control())
    assert [(each.text, each.is_vetted) for each in result.candidates] == [("2", True), ("1 1", False)]
