"""The same weights read left to right: drafts, and judgement of drafts."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from midfill_engine.api import EngineOptions, FillRequest, Mode
from midfill_engine.beam import Beam
from midfill_engine.causal import JUDGED, CausalHead, Likelihood
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


def test_likelihoods_are_the_sums_over_middle_and_what_follows() -> None:
    """Of each middle what it is alone, however long the others are."""
    middles, after = [[40, 41], [], [42, 43, 44, 45], [46]], [50, 51, 52]
    head = CausalHead(DiffusionGemma(tiny_model(tiny_config())), NONE, NONE)
    for middle, got in zip(middles, head.likelihoods(IDS, middles, after), strict=True):
        said = middle + after
        log_probs = reference_log_probs(IDS + said)
        each = [float(log_probs[len(IDS) - 1 + i, token]) for i, token in enumerate(said)]
        assert got.middle == pytest.approx(sum(each[: len(middle)]), abs=1e-3)
        assert got.after == pytest.approx(sum(each[len(middle) :]), abs=1e-3)
    assert head.likelihoods(IDS, [[], []], []) == [Likelihood(0.0, 0.0)] * 2
    (single,) = head.likelihoods(IDS, [[40]], [])
    assert single.total == pytest.approx(float(reference_log_probs([*IDS, 40])[-2, 40]), abs=1e-3)


def test_of_a_long_suffix_only_the_beginning_is_read() -> None:
    head = CausalHead(DiffusionGemma(tiny_model(tiny_config())), NONE, NONE)
    assert head.likelihoods(IDS, [[40]], [50] * 40) == head.likelihoods(IDS, [[40]], [50] * JUDGED)


def test_lines_of_each_number_are_drafted() -> None:
    head = CausalHead(DiffusionGemma(tiny_model(tiny_config())), NONE, marks(7, 8, 20, 21, 22, 40, 60, 61, 62))
    drafts = head.drafts(IDS, Beam(width=8, max_tokens=20, max_lines=3), Control())
    assert len(drafts) > 3
    assert all(sum(d.num_lines == lines for d in drafts) <= 3 for lines in (1, 2, 3))
    assert len(head.drafts(IDS, Beam(width=4, max_tokens=20), Control())) <= 4


@pytest.mark.parametrize("control", [Control(is_cancelled=lambda: True), Control(deadline=0.0)])
def test_an_interrupted_draft_is_none(control: Control) -> None:
    head = CausalHead(DiffusionGemma(tiny_model(tiny_config())), NONE, NONE)
    assert head.drafts(IDS, Beam(width=2, max_tokens=6), control) == []


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
    texts = [loaded.codec.ids(text) for text in (judged.text, alone.text)]
    worth = head.likelihoods(prompt.encoded + prompt.tail, texts, prompt.head)
    assert worth[0].total >= worth[1].total or not alone.text
    assert not judged.text.endswith(")")


def test_a_cancelled_fill_judges_nothing() -> None:
    filler = load_filler(EngineOptions(), lambda *_: None)
    request = FillRequest(prefix="x = [1, 2\ny = ", suffix="\n", mode=Mode.LINE)
    assert filler.fill(request, Control(is_cancelled=lambda: True)).candidates == ()
