"""The search for lines: held against trying everything on a model small enough for that."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from midfill_engine.beam import Beam, BeamDraft, best_of_each_length, search
from midfill_engine.models.diffusion_gemma import DiffusionGemma
from support.tiny import tiny_config, tiny_model

VOCAB = 12
IDS = [3, 5, 9, 4]
ENDS = torch.zeros(VOCAB, dtype=torch.bool).scatter(0, torch.tensor([6, 7]), True)
BANNED = torch.zeros(VOCAB, dtype=torch.bool).scatter(0, torch.tensor([0, 1, 2]), True)


def engine() -> DiffusionGemma:
    return DiffusionGemma(tiny_model(tiny_config(vocab=VOCAB)))


def by_trying_everything(max_tokens: int, max_lines: int) -> dict[tuple[int, ...], float]:
    """The score of every draft there can be, token by token from the plain causal model."""
    model = engine()
    allowed = [token for token in range(VOCAB) if not BANNED[token]]
    found = {}
    for size in range(1, max_tokens):
        for tokens in itertools.product(allowed, repeat=size):
            if sum(bool(ENDS[token]) for token in tokens) >= max_lines:
                continue
            model.forget()
            logits = model.next_logits([*IDS, *tokens])[len(IDS) - 1 :]
            log_probs = logits.masked_fill(BANNED, -math.inf).log_softmax(-1)
            score = sum(float(log_probs[i, token]) for i, token in enumerate(tokens))
            found[tokens] = score + float(log_probs[-1][ENDS].logsumexp(0))
    return found


@pytest.mark.parametrize("max_lines", [1, 2])
def test_a_wide_beam_finds_the_best_of_all(max_lines: int) -> None:
    """As wide as there are rows at all, it finds each draft, with its own likelihood."""
    expected = by_trying_everything(4, max_lines)
    beam = Beam(width=730, max_tokens=4, max_lines=max_lines)
    drafts = search(engine(), IDS, beam, BANNED, ENDS, lambda: False)
    assert drafts is not None
    got = {draft.tokens: draft.score for draft in drafts if len(draft.tokens) < 4 and draft.score > -math.inf}
    best = sorted(expected, key=lambda tokens: -expected[tokens])[:20]
    for tokens in best:
        assert got[tokens] == pytest.approx(expected[tokens], abs=1e-3)
    assert drafts == sorted(drafts, key=lambda draft: -draft.score)


def test_one_row_is_the_greedy_line() -> None:
    model, tokens = engine(), list(IDS)
    while True:
        best = int(model.next_logits(tokens)[-1].masked_fill(BANNED, -math.inf).argmax())
        if bool(ENDS[best]) or len(tokens) == len(IDS) + 9:
            break
        tokens.append(best)
    line = tuple(tokens[len(IDS) :])
    drafts = search(engine(), IDS, Beam(width=1, max_tokens=9), BANNED, ENDS, lambda: False)
    assert drafts
    assert all(draft.tokens == line[: len(draft.tokens)] for draft in drafts)


def test_drafts_hold_no_more_lines_than_were_asked_for() -> None:
    drafts = search(engine(), IDS, Beam(width=6, max_tokens=12, max_lines=3), BANNED, ENDS, lambda: False)
    assert drafts is not None
    assert {draft.num_lines for draft in drafts} <= {1, 2, 3}
    for draft in drafts:
        assert sum(bool(ENDS[token]) for token in draft.tokens) == draft.num_lines - 1
        assert not any(bool(BANNED[token]) for token in draft.tokens)


@pytest.mark.parametrize("num_steps", [0, 1, 3])
def test_stopping_ends_the_search_before_the_next_step(num_steps: int) -> None:
    asked = 0

    def is_stopped() -> bool:
        nonlocal asked
        asked += 1
        return asked > num_steps

    assert search(engine(), IDS, Beam(width=2, max_tokens=9, max_lines=9), BANNED, ENDS, is_stopped) is None
    assert asked == num_steps + 1


def test_of_each_length_the_best_are_kept() -> None:
    drafts = [BeamDraft(tokens=(lines, i), score=-float(i), num_lines=lines) for lines in (1, 2) for i in (3, 1, 2)]
    assert [draft.tokens for draft in best_of_each_length(drafts, 2)] == [(1, 1), (1, 2), (2, 1), (2, 2)]


@pytest.mark.parametrize("wrong", [{"width": 0}, {"max_tokens": 0}, {"max_lines": 0}])
def test_a_beam_of_nothing_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be 1 or more, got 0"):
        Beam(**({"width": 1, "max_tokens": 1} | wrong))
