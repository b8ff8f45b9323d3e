"""How a request is carried out, over a model whose answers are scripted: nothing in here depends on weights."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
import torch

from midfill_engine.api import Draft, FillRequest, FillResult, Finish, Limits, Mode
from midfill_engine.core import Control
from midfill_engine.denoise.loop import LastStep
from midfill_engine.errors import ResourceError
from midfill_engine.filler import Filler
from midfill_engine.presets import Preset
from support.scripted_model import BOS, FILE, FIRST, NULL, VOCAB, ScriptedModel, canvas, loaded_of, preset_of


def fill(model: ScriptedModel, control: Control | None = None, preset: object = None, **fields: object) -> FillResult:
    """A fill of one line after `x = `, unless said otherwise."""
    request = FillRequest(**{"prefix": "x = ", "mode": Mode.LINE} | fields)  # type: ignore[arg-type]
    return Filler(preset or preset_of(), loaded_of(model)).fill(request, control or Control())  # type: ignore[arg-type]


def of_tokens(max_tokens: int) -> Limits:
    return Limits(max_tokens=max_tokens)


# --- where the middle ends ---


def test_a_null_ends_the_middle() -> None:
    model = ScriptedModel([canvas("ab", end=True)])
    result = fill(model)
    assert (result.text, result.finish, result.num_tokens) == ("ab", Finish.COMPLETE, 2)


def test_what_stands_behind_the_null_does_not_count() -> None:
    result = fill(ScriptedModel([[*canvas("a", end=True), *canvas("zz")]]))
    assert result.text == "a"


def test_a_middle_of_nothing_is_no_offer() -> None:
    model = ScriptedModel([[NULL, NULL, NULL, NULL]])
    result = fill(model)
    assert (result.candidates, result.finish, result.num_tokens) == ((), Finish.EMPTY, 0)


def test_a_full_canvas_goes_on_in_a_further_one() -> None:
    model = ScriptedModel([canvas("abcd"), canvas("ef", end=True)])
    result = fill(model, suffix="\nnext")
    assert (result.text, result.finish, result.num_tokens) == ("abcdef", Finish.COMPLETE, 6)
    first, second = model.encoded
    assert first == [BOS, FILE, *canvas("x ")]
    assert second == [BOS, FILE, *canvas("x = ab")]
    assert all(row[:2] == canvas("cd") and row[-3:] == canvas("\nne") for row in model.canvases[-1])


def test_further_canvases_until_the_limit() -> None:
    """The last canvas has only the slots that the limit leaves."""
    model = ScriptedModel([canvas("abcd")])
    result = fill(model, limits=of_tokens(10))
    assert (result.text, result.finish, result.num_tokens) == ("abcdabcdab", Finish.LENGTH, 10)
    assert [len(rows[0]) for rows in model.canvases][-1] == 2 + 2


@pytest.mark.parametrize(("limit", "text"), [(1, "a"), (3, "abc"), (4, "abcd")])
def test_a_limit_within_the_first_canvas(limit: int, text: str) -> None:
    result = fill(ScriptedModel([canvas("abcd")]), limits=of_tokens(limit))
    assert (result.text, result.finish) == (text, Finish.LENGTH)


def test_a_line_ends_with_its_line() -> None:
    model = ScriptedModel([canvas("a\nbc")])
    result = fill(model)
    assert (result.text, result.finish) == ("a", Finish.COMPLETE)
    model = ScriptedModel([canvas("abc\n")])
    assert fill(model).text == "abc"
    assert len(model.encoded) == 1, "a full canvas with a line end in it needs no further one"


def test_a_block_goes_on_after_a_line_end() -> None:
    model = ScriptedModel([canvas("a\nbc\nd"), canvas("e", end=True)])
    assert fill(model, mode=Mode.BLOCK).text == "a\nbc\nde"


def test_a_character_over_two_canvases() -> None:
    raw = canvas("ab😀")
    result = fill(ScriptedModel([raw[:4], [*raw[4:], NULL]]))
    assert result.text == "ab😀"


def test_half_a_character_at_the_limit_is_left_out() -> None:
    result = fill(ScriptedModel([canvas("ab😀")]), limits=of_tokens(4))
    assert result.text == "ab"


def test_without_a_null_token_every_slot_is_text() -> None:
    model = ScriptedModel([canvas("abcd")])
    result = fill(model, preset=preset_of(null_token=None))
    assert (result.text, len(model.encoded)) == ("abcd", 1)


# --- what may stand in a slot ---


def test_specials_and_padding_never_stand_in_a_slot() -> None:
    """A model's vocabulary may be padded beyond its tokenizer's; such an id was an IndexError."""
    for strange in (BOS, FILE, VOCAB + 3):
        model = _WithSecondChoice([[FIRST + ord("a"), strange, NULL]], vocab_size=VOCAB + 8)
        assert fill(model).text == "au"


def test_given_tokens_stand_in_every_canvas() -> None:
    model = ScriptedModel([canvas("abcd")], sureness=1.0)
    fill(model, suffix="yz!\n")
    for rows in model.canvases[:4]:
        assert rows[0][:2] == canvas("= ")
        assert rows[0][-3:] == canvas("yz!")


def test_healing_holds_the_answer_to_the_word_and_cuts_it_off() -> None:
    model = ScriptedModel([canvas("xyzw", end=True)])
    result = fill(model, preset=preset_of(heals=True, line_slots=8), prefix="a = re")
    assert result.text == "w"
    assert model.encoded == [[BOS, FILE, *canvas("a")]], "` re` went back into the slots, ` =` is the pinned tail"


def test_healing_a_word_on_both_sides() -> None:
    model = ScriptedModel([canvas("re-urn", end=True)])
    result = fill(model, preset=preset_of(heals=True, line_slots=8), prefix="\nre", suffix="rn x")
    assert result.text == "-u"


def test_a_line_that_goes_on_is_not_ended() -> None:
    """The line end took the place of what had to follow, and the fill came to nothing."""
    model = _WithSecondChoice([canvas("re\n-rn", end=True)])
    result = fill(model, preset=preset_of(heals=True, line_slots=8), prefix="\nre", suffix="rn x")
    assert result.text == "u-"


class _WithSecondChoice(ScriptedModel):
    """Where the first choice may not stand a `u` does."""

    def slot_logits(self, canvas: torch.Tensor, slots: slice, previous: torch.Tensor | None) -> torch.Tensor:
        logits = super().slot_logits(canvas, slots, previous)
        logits[..., FIRST + ord("u")] += 10.0
        return logits


def test_healing_that_finds_no_room_offers_nothing() -> None:
    model = ScriptedModel([canvas("xyzw")])
    result = fill(model, preset=preset_of(heals=True), prefix="returning", limits=of_tokens(4))
    assert (result.text, result.finish) == ("", Finish.EMPTY)


# --- who may end it early ---


@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_cancelling_before_a_step_runs_no_further_one(step: int) -> None:
    model = ScriptedModel([canvas("abcd")], sureness=1.0)
    result = fill(model, Control(is_cancelled=lambda: model.num_passes >= step))
    assert model.num_passes == step
    assert (result.finish, result.candidates) == (Finish.CANCELLED, ())


def test_cancelling_in_a_further_canvas() -> None:
    model = ScriptedModel([canvas("abcd")])
    passes_of_first = _passes_of_one_canvas()
    result = fill(model, Control(is_cancelled=lambda: model.num_passes > passes_of_first))
    assert model.num_passes == passes_of_first + 1
    assert (result.finish, result.candidates) == (Finish.CANCELLED, ())


def test_cancelling_between_candidates() -> None:
    """The first candidate was done, so the fill passed for complete."""
    model = ScriptedModel([canvas("ab", end=True)])
    passes_of_first = _passes_of_one_canvas()
    result = fill(model, Control(is_cancelled=lambda: model.num_passes >= passes_of_first), num_candidates=3)
    assert model.num_passes == passes_of_first
    assert (result.finish, result.candidates) == (Finish.CANCELLED, ())


def _passes_of_one_canvas() -> int:
    model = ScriptedModel([canvas("ab", end=True)])
    fill(model)
    return model.num_passes


def test_a_deadline_that_has_passed_gives_the_first_step() -> None:
    model = ScriptedModel([canvas("abcd")], sureness=3.0)
    result = fill(model, Control(deadline=time.monotonic() - 1))
    assert (model.num_passes, result.finish, result.text) == (1, Finish.DEADLINE, "abcd")


def test_a_deadline_between_steps_gives_the_best_so_far() -> None:
    clock = _Clock()
    model = ScriptedModel(
        [lambda step: canvas("abcd" if step < 3 else "wxyz")], sureness=3.0, before_pass=clock.wait_at(1)
    )
    result = fill(model, Control(deadline=clock.deadline))
    assert (model.num_passes, result.finish, result.text) == (2, Finish.DEADLINE, "abcd")


def test_no_further_canvas_after_the_deadline() -> None:
    """Each candidate looked only at how it had ended itself, and went on after another had been cut short."""
    clock = _Clock()
    model = ScriptedModel([canvas("abcd")], before_pass=clock.wait_at(_passes_of_one_canvas() - 1))
    result = fill(model, Control(deadline=clock.deadline))
    assert len(model.encoded) == 1
    assert result.text == "abcd"
    assert result.finish is Finish.LENGTH


class _Clock:
    """A deadline that is sure to have passed once a certain pass is over."""

    def __init__(self) -> None:
        self.deadline = time.monotonic() + 0.5

    def wait_at(self, num_passes: int):
        def wait(so_far: int) -> None:
            while so_far == num_passes and time.monotonic() < self.deadline:
                time.sleep(0.01)

        return wait


def test_the_step_cap() -> None:
    model = ScriptedModel([lambda step: canvas("abcd" if step % 2 else "wxyz")], sureness=3.0)
    result = fill(model, limits=Limits(max_steps=3, max_tokens=3))
    assert model.num_passes == 3
    assert result.num_steps == 3
    assert result.finish is Finish.LENGTH
    model = ScriptedModel([lambda step: canvas("ab" if step % 2 else "wx", end=True)], sureness=3.0)
    result = fill(model, limits=Limits(max_steps=3))
    assert (model.num_passes, result.finish) == (3, Finish.STEPS)


def test_out_of_memory_is_one_line_and_gives_memory_back() -> None:
    def fail(_: int) -> None:
        raise MemoryError

    model = ScriptedModel([canvas("ab")], before_pass=fail)
    with pytest.raises(ResourceError, match="not enough memory"):
        fill(model)
    assert model.num_forgotten == 3  # the first try's memory and that of two with less


@pytest.mark.parametrize("num_failures", [1, 2])
def test_out_of_memory_is_tried_again_with_half_the_context_and_canvas(num_failures: int) -> None:
    """One long file ran out of memory and every later request with it."""

    def fail_at_first(_: int) -> None:
        failures.append(None)
        if len(failures) <= num_failures:
            raise MemoryError

    failures: list[None] = []
    model = ScriptedModel([canvas("a", end=True)], before_pass=fail_at_first)
    preset = preset_of(context=64, line_slots=8)
    filler = Filler(preset, loaded_of(model))
    request = FillRequest(prefix="y = 1\n" * 100 + "x = ", mode=Mode.LINE)
    results = [filler.fill(request, Control()) for _ in range(2)]
    assert [result.text for result in results] == ["a", "a"]
    assert ["memory" in result.note for result in results] == [True, False]  # said once
    assert model.num_forgotten == num_failures
    assert all(result.num_prompt <= 64 >> num_failures for result in results)
    assert len(model.encoded[0]) > len(model.encoded[-1])
    assert _num_slots(model.canvases[-1], preset) == 8 >> num_failures


def _num_slots(rows: list[list[int]], preset: Preset) -> int:
    return len(rows[0]) - preset.tail  # there is no suffix


# --- candidates ---


def test_candidates_that_say_the_same_are_one() -> None:
    model = ScriptedModel([canvas("ab", end=True)])
    result = fill(model, num_candidates=4)
    assert [candidate.text for candidate in result.candidates] == ["ab"]


def test_the_first_leads_and_the_others_follow_by_confidence() -> None:
    rows = [canvas("b", end=True), canvas("cd", end=True)]
    model = _Unsure([canvas("a", end=True)], rows=rows, sureness_of=[6.0, 7.0, 12.0])
    result = fill(model, temperature=0.0, num_candidates=3)
    assert [candidate.text for candidate in result.candidates] == ["a", "cd", "b"]
    confidences = [candidate.confidence for candidate in result.candidates]
    assert 0 < confidences[0] < confidences[2] < confidences[1] <= 1


def test_when_the_first_says_nothing_another_leads() -> None:
    """Finish and number of tokens were those of the first, which was not even offered."""
    model = ScriptedModel([[NULL] * 4], rows=[canvas("bcd", end=True)])
    result = fill(model, temperature=0.0, num_candidates=2)
    assert [candidate.text for candidate in result.candidates] == ["bcd"]
    assert (result.finish, result.num_tokens) == (Finish.COMPLETE, 3)


def test_every_candidate_goes_on_behind_itself() -> None:
    model = ScriptedModel([canvas("abcd"), canvas("X", end=True), canvas("Y", end=True)], rows=[canvas("efgh")])
    result = fill(model, temperature=0.0, num_candidates=2)
    assert {candidate.text for candidate in result.candidates} == {"abcdX", "efghY"}
    assert [encoded[-4:] for encoded in model.encoded[1:]] == [canvas("= ab"), canvas("= ef")]


def test_steps_are_passes_of_the_denoiser() -> None:
    """With several candidates the number was that of the longest candidate, whatever had really run."""
    for fields in ({}, {"num_candidates": 3}, {"num_candidates": 3, "temperature": 0.0}, {"limits": of_tokens(9)}):
        model = ScriptedModel([canvas("abcd")], sureness=3.0)
        assert fill(model, **fields).num_steps == model.num_passes


class _Unsure(ScriptedModel):
    """Each row as sure as it is told to be."""

    def __init__(self, scripts: list, rows: list, sureness_of: list[float]) -> None:
        super().__init__(scripts, rows=rows, sureness=1.0)
        self._sureness_of = sureness_of

    def slot_logits(self, canvas: torch.Tensor, slots: slice, last: LastStep | None) -> torch.Tensor:
        return super().slot_logits(canvas, slots, last) * torch.tensor(self._sureness_of)[: canvas.shape[0], None, None]


# --- chance ---


WARM = preset_of(t_min=0.4, t_max=0.8, line_slots=6)
GREEDY = preset_of(line_slots=6)


def loose() -> ScriptedModel:
    """Several letters are likely, so that chance decides."""

    class Loose(ScriptedModel):
        def slot_logits(self, canvas: torch.Tensor, slots: slice, last: LastStep | None) -> torch.Tensor:
            logits = super().slot_logits(canvas, slots, last) * 0.0
            tokens = canvas[:, slots].clamp(min=FIRST)  # what stands there is likely to stay
            logits.scatter_(-1, tokens[..., None], 3.0)
            logits[..., FIRST + ord("a") : FIRST + ord("k")] += 4.0
            return logits

    return Loose([[]])


@pytest.mark.parametrize("preset", [WARM, GREEDY], ids=["sampled", "greedy"])
def test_the_same_seed_says_the_same(preset) -> None:
    first = fill(loose(), preset=preset, seed=7, num_candidates=4)
    second = fill(loose(), preset=preset, seed=7, num_candidates=4)
    assert first.candidates == second.candidates
    assert first.candidates


def test_seeds_differ() -> None:
    texts = {fill(loose(), preset=WARM, seed=seed).text for seed in range(6)}
    assert len(texts) > 3


@pytest.mark.parametrize("preset", [WARM, GREEDY], ids=["sampled", "greedy"])
@pytest.mark.parametrize("temperature", [None, 0.0, 0.7])
def test_more_candidates_do_not_change_the_first(preset, temperature: float | None) -> None:
    for seed in range(4):
        alone = fill(loose(), preset=preset, seed=seed, temperature=temperature)
        among = fill(loose(), preset=preset, seed=seed, temperature=temperature, num_candidates=5)
        assert among.text == alone.text


def test_further_candidates_of_a_greedy_preset_are_sampled() -> None:
    result = fill(loose(), preset=GREEDY, num_candidates=5)
    assert len(result.candidates) > 2


def test_the_largest_seed() -> None:
    assert fill(loose(), preset=WARM, seed=2**63 - 1, num_candidates=3).candidates


# --- drafts ---


def watched(model: ScriptedModel, **fields: object) -> tuple[FillResult, list[Draft]]:
    drafts: list[Draft] = []
    return fill(model, Control(on_draft=drafts.append), **fields), drafts


def test_one_draft_a_step() -> None:
    model = ScriptedModel([canvas("abcd", end=True)], sureness=5.0)
    result, drafts = watched(model, preset=preset_of(line_slots=8))
    assert [draft.step for draft in drafts] == list(range(1, model.num_passes + 1))
    assert drafts[-1].text == result.text == "abcd"


def test_locks_are_shown() -> None:
    some = 6.0  # a logit that leaves a slot in doubt
    _, drafts = watched(ScriptedModel([canvas("abcd")], sureness=some), limits=of_tokens(4))
    assert not all(token.is_locked for token in drafts[0].tokens)
    assert any(token.is_locked for token in drafts[0].tokens)
    _, drafts = watched(ScriptedModel([canvas("abcd")]), limits=of_tokens(4))
    assert all(token.is_locked for token in drafts[0].tokens)


def test_steps_and_text_go_on_over_canvases() -> None:
    model = ScriptedModel([canvas("abcd"), canvas("ef", end=True)])
    result, drafts = watched(model)
    assert [draft.step for draft in drafts] == list(range(1, model.num_passes + 1))
    assert drafts[-1].text == result.text == "abcdef"
    assert all(token.is_locked for token in drafts[-1].tokens[:4])


def test_only_the_first_candidate_is_shown() -> None:
    model = ScriptedModel([canvas("abcd"), canvas("X", end=True), canvas("Y", end=True)], rows=[canvas("efgh")])
    _, drafts = watched(model, temperature=0.0, num_candidates=2)
    assert not any("e" in draft.text or "Y" in draft.text for draft in drafts)


@pytest.mark.parametrize(
    "fields", [{}, {"num_candidates": 3}, {"temperature": 0.6}, {"prefix": "retu", "suffix": "rn"}]
)
def test_watching_changes_nothing(fields: dict[str, object]) -> None:
    for preset in (WARM, replace(GREEDY, heals=True)):
        unseen = fill(loose(), preset=preset, **fields)
        seen, _ = watched(loose(), preset=preset, **fields)
        assert seen.candidates == unseen.candidates
        assert seen.num_steps == unseen.num_steps
