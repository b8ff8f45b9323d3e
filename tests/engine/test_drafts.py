"""What a watcher is shown after a step."""

from __future__ import annotations

import torch

from midfill_engine.api import Draft
from midfill_engine.denoise.length import NullLength
from midfill_engine.denoise.loop import StepView
from midfill_engine.drafts import DraftMaker
from midfill_engine.heal import Healing
from support.scripted_model import FIRST, NULL, byte_codec, canvas

NONE = Healing()


def draft_of(
    best: list[int],
    locked: list[bool] | None = None,
    healing: Healing = NONE,
    before: tuple[int, ...] = (),
    num_steps: int = 0,
) -> Draft:
    told: list[Draft] = []
    maker = DraftMaker(byte_codec(), NullLength(null=NULL), healing, told.append, before=before, num_steps=num_steps)
    is_locked = torch.tensor(locked if locked is not None else [True] * len(best), dtype=torch.bool)
    maker(StepView(step=2, canvas=torch.tensor([best]), best=torch.tensor(best), is_locked=is_locked))
    [draft] = told
    return draft


def test_slots_up_to_the_end_with_their_locks() -> None:
    draft = draft_of([*canvas("ab", end=True), FIRST], [True, False, True, False])
    assert [(token.text, token.is_locked) for token in draft.tokens] == [("a", True), ("b", False)]
    assert draft.step == 2


def test_nothing_is_a_draft_too() -> None:
    assert draft_of([NULL, NULL]).tokens == ()
    assert draft_of([]).tokens == ()


def test_a_character_of_several_tokens_is_shown_whole() -> None:
    """Each token was decoded by itself, so an emoji was shown as four replacement characters."""
    draft = draft_of(canvas("é😀", end=True))
    assert draft.text == "é😀"
    assert [token.text for token in draft.tokens] == ["", "é", "", "", "", "😀"]


def test_a_broken_character_is_shown_as_one() -> None:
    assert draft_of([*canvas("a"), FIRST + 0xF0, *canvas("b")]).text == "a\ufffdb"


def test_earlier_canvases_come_first_and_are_locked() -> None:
    """Steps began at 1 again with every further canvas."""
    draft = draft_of(canvas("cd"), [False, False], before=tuple(canvas("ab")), num_steps=7)
    assert draft.text == "abcd"
    assert [token.is_locked for token in draft.tokens] == [True, True, False, False]
    assert draft.step == 9


def test_a_character_over_two_canvases() -> None:
    raw = canvas("😀")
    assert draft_of(raw[2:], before=tuple(raw[:2])).text == "😀"


def test_what_was_given_is_not_shown() -> None:
    assert draft_of(canvas("return x", end=True), healing=Healing(left="retu")).text == "rn x"
    assert draft_of(canvas("pre x post", end=True), healing=Healing(left="pre", right="post")).text == " x "


def test_what_is_not_there_yet_is_not_cut() -> None:
    assert draft_of(canvas("xyz", end=True), healing=Healing(left="retu", right="rn")).text == "xyz"
