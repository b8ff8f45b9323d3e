"""The same weights read left to right: drafts, and judgement of drafts."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from midfill_engine.api import EngineOptions, FillRequest, Mode
from midfill_engine.causal import CausalHead
from midfill_engine.core import Control
from midfill_engine.filler import Filler, load_filler
from midfill_engine.models.diffusion_gemma import DiffusionGemma
from midfill_engine.models.loading import load
from midfill_engine.presets import find_preset
from support.tiny import tiny_config, tiny_model

IDS = [2, 5, 9, 11, 30]
NONE = torch.zeros(97, dtype=torch.bool)


def marks(*ids: int) -> torch.Tensor:
    marked = NONE.clone()
    marked[list(ids)] = True
    return marked


def reference_log_probs(ids: list[int]) -> torch.Tensor:
    """Of each next token, by the class's encoder over all of `ids` at once."""
    model = tiny_model(tiny_config())
    with torch.no_grad():
        hidden = model.model.encoder(input_ids=torch.tensor([ids])).last_hidden_state
        logits = torch.tanh(model.lm_head(hidden)[0] / model.final_logit_softcapping) * model.final_logit_softcapping
    return logits.log_softmax(-1)


def test_draft_is_greedy_and_ends_before_a_line_end() -> None:
    """Token by token as a plain loop over the class finds them; what is banned never comes."""
    expected: list[int] = []
    banned = marks(7, 8)
    for _ in range(6):
        scores = reference_log_probs(IDS + expected)[-1].masked_fill(banned, float("-inf"))
        expected.append(int(scores.argmax()))
    head = CausalHead(DiffusionGemma(tiny_model(tiny_config())), banned, NONE)
    whole = head.draft(IDS, 6, Control())
    assert whole is not None
    assert whole.tokens == expected
    assert not whole.is_ended
    ending = CausalHead(DiffusionGemma(tiny_model(tiny_config())), banned, marks(expected[3]))
    cut = ending.draft(IDS, 6, Control())
    assert cut is not None
    assert cut.tokens == expected[: expected.index(expected[3])]
    assert cut.is_ended
    assert len(cut.log_probs) == len(cut.tokens) + 1


def test_log_likelihood_is_the_sum_over_middle_and_what_follows() -> None:
    middle, after = [40, 41], [50, 51, 52]
    said = middle + after
    log_probs = reference_log_probs(IDS + said)
    want = sum(float(log_probs[len(IDS) - 1 + i, token]) for i, token in enumerate(said))
    head = CausalHead(DiffusionGemma(tiny_model(tiny_config())), NONE, NONE)
    assert head.log_likelihood(IDS, middle, after) == pytest.approx(want, abs=1e-3)
    assert head.log_likelihood(IDS, [], []) == 0.0


@pytest.mark.parametrize("control", [Control(is_cancelled=lambda: True), Control(deadline=0.0)])
def test_an_interrupted_draft_is_none(control: Control) -> None:
    head = CausalHead(DiffusionGemma(tiny_model(tiny_config())), NONE, NONE)
    assert head.draft(IDS, 6, control) is None


def test_the_likeliest_draft_leads() -> None:
    """With the shipped model: of both sides' drafts the one that the causal head finds likelier in its place is
    offered, no more than were asked for, and what stands around the hole is not repeated."""
    preset = replace(find_preset("pocket"), has_causal_draft=True)
    loaded = load(preset, "cpu", lambda *_: None)
    plain = Filler(replace(preset, has_causal_draft=False), loaded)
    both = Filler(preset, loaded, causal_model=loaded.model)
    request = FillRequest(
        prefix="import os\n\n\ndef size(path):\n    return os.path.getsize(", suffix=")\n", mode=Mode.LINE
    )
    alone, judged = plain.fill(request, Control()), both.fill(request, Control())
    assert len(judged.candidates) == 1
    head = CausalHead(loaded.model, both.banned, torch.zeros_like(both.banned))
    prompt = both.plan(request).prompt
    worth = [
        head.log_likelihood(prompt.encoded + prompt.tail, loaded.codec.ids(text), prompt.head)
        for text in (judged.text, alone.text)
    ]
    assert worth[0] >= worth[1] or not alone.text
    assert not judged.text.endswith(")")


def test_a_cancelled_fill_judges_nothing() -> None:
    filler = load_filler(EngineOptions(), lambda *_: None)
    request = FillRequest(prefix="x = [1, 2\ny = ", suffix="\n", mode=Mode.LINE)
    assert filler.fill(request, Control(is_cancelled=lambda: True)).candidates == ()
