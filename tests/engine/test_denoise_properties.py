"""What must hold in every draft, for any canvas, seed and setting."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LogitsProcessor, LogitsProcessorList
from transformers.models.diffusion_gemma.generation_diffusion_gemma import EntropyBoundSamplerConfig

from midfill_engine.denoise.length import FixedLength, NullLength
from midfill_engine.denoise.loop import Ended, Interrupts, Policy, StepView, denoise
from midfill_engine.denoise.noise import UniformNoise
from midfill_engine.denoise.schedule import LinearTemperature
from midfill_engine.denoise.stop import StableAndConfident
from midfill_engine.models.diffusion_gemma import DiffusionGemma, FirstSignal
from support.tiny import tiny_config, tiny_model

VOCAB = 97
NULL = 3
CONFIG = tiny_config(layers=2)
ENGINE = DiffusionGemma(tiny_model(CONFIG), FirstSignal.MEAN)


def generators(num: int, seed: int) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(seed + row) for row in range(num)]


@st.composite
def holes(draw):
    num = draw(st.integers(1, 24))
    start = draw(st.integers(0, num - 1))
    return num, slice(start, draw(st.integers(start + 1, num)))


@given(
    hole=holes(),
    seed=st.integers(0, 2**31),
    rows=st.integers(1, 3),
    steps=st.integers(1, 5),
    bound=st.sampled_from([0.01, 1.0, 50.0]),
    t_max=st.sampled_from([0.0, 0.8]),
    has_null=st.booleans(),
    is_held_free=st.booleans(),
    keeps_pace=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_no_pinned_token_ever_differs(
    hole, seed, rows, steps, bound, t_max, has_null, is_held_free, keeps_pace
) -> None:
    """A model that is given pinned tokens only as a warm start keeps none of them: here each draft is looked at."""
    num, slots = hole
    canvas = torch.randint(0, VOCAB, (rows, num), generator=torch.Generator().manual_seed(seed))
    given_tokens = canvas.clone()
    is_pinned = torch.ones(num, dtype=torch.bool)
    is_pinned[slots] = False
    views: list[StepView] = []

    def look(view: StepView) -> None:
        assert bool((view.canvas[:, is_pinned] == given_tokens[: len(view.canvas)][:, is_pinned]).all())
        views.append(view)

    policy = Policy(
        noise=UniformNoise(last=VOCAB - 1),
        max_steps=steps,
        entropy_bound=bound,
        is_held_free=is_held_free,
        keeps_pace=keeps_pace,
        schedule=LinearTemperature(t_min=t_max / 2, t_max=t_max),
        length=NullLength(null=NULL) if has_null else FixedLength(),
    )
    given_tokens[:] = given_tokens[:1]  # rows differ in their noise only, so that dropped rows leave this comparable
    canvas[:] = canvas[:1]
    ENGINE.encode([2, 5, 9])
    result = denoise(ENGINE, canvas, slots, policy, generators(rows, seed), Interrupts(on_step=look))
    assert views
    assert bool((canvas == given_tokens).all()), "the caller's canvas was written to"
    for row in result:
        assert len(row.tokens) == slots.stop - slots.start == len(row.log_probs)
        assert 1 <= row.num_steps <= steps


@pytest.mark.parametrize("t_max", [0.0, 0.8])
@pytest.mark.parametrize("confidence", [0.005, 3.2])
def test_batched_equals_single(t_max: float, confidence: float) -> None:
    """Rows that stop at different steps included: one that is done leaves the others' random numbers alone."""
    policy = Policy(
        noise=UniformNoise(last=VOCAB - 1),
        max_steps=6,
        entropy_bound=3.0,
        schedule=LinearTemperature(t_min=t_max / 2, t_max=t_max),
        stop=StableAndConfident(stability=0, confidence=confidence),
        length=NullLength(null=NULL),
    )
    ENGINE.encode([2, 5, 9, 11])
    canvas = torch.full((6, 14), 7)
    together = denoise(ENGINE, canvas, slice(3, 12), policy, generators(6, 40))
    alone = [denoise(ENGINE, canvas[:1], slice(3, 12), policy, generators(1, 40 + row))[0] for row in range(6)]
    assert [row.tokens for row in together] == [row.tokens for row in alone]
    assert [row.num_steps for row in together] == [row.num_steps for row in alone]
    for a, b in zip(together, alone, strict=True):
        torch.testing.assert_close(torch.tensor(a.log_probs), torch.tensor(b.log_probs), atol=1e-4, rtol=0)


def test_watchers_see_the_first_row_and_no_other() -> None:
    """A row that is done leaves the batch; the views went on with the one behind it, another candidate's draft."""

    class FirstIsSure:
        """Rows are told apart by their pinned token: 1 is sure of token 5 at once, 2 never is of 9."""

        def slot_logits(self, canvas, slots, last):
            logits = torch.zeros(len(canvas), 3, VOCAB)
            for row, marked in zip(logits, canvas[:, 0].tolist(), strict=True):
                row[:, 5 if marked == 1 else 9] = 50.0 if marked == 1 else 1.0
            return logits

    views: list[StepView] = []
    policy = Policy(noise=UniformNoise(last=VOCAB - 1), max_steps=6)
    canvas = torch.tensor([[1, 0, 0, 0], [2, 0, 0, 0]])
    rows = denoise(
        FirstIsSure(),
        canvas,
        slice(1, 4),
        policy,
        generators(2, 0),
        Interrupts(on_step=views.append),
    )
    assert [row.num_steps for row in rows] == [2, 6]
    assert [view.best.tolist() for view in views] == [[5, 5, 5]] * 2


class CountingDenoiser:
    """Certain of nothing, so that only the step cap or an interruption ends it."""

    def __init__(self) -> None:
        self.num_steps = 0

    def slot_logits(self, canvas, slots, last):
        self.num_steps += 1
        return torch.zeros(len(canvas), slots.stop - slots.start, VOCAB)


@pytest.mark.parametrize(("steps", "num_slots"), [(1, 5), (3, 5), (4, 4), (8, 3)])
def test_with_pace_no_slot_is_open_after_the_last_step(steps: int, num_slots: int) -> None:
    """A model sure of nothing locked one slot a step, and the others were read out of noise when the steps ran out."""
    seen: dict[bool, list[int]] = {}
    for keeps_pace in (False, True):
        views: list[StepView] = []
        policy = Policy(
            noise=UniformNoise(last=VOCAB - 1),
            max_steps=steps,
            is_held_free=True,
            keeps_pace=keeps_pace,
            schedule=LinearTemperature(t_min=0.0, t_max=0.0),
        )
        canvas = torch.zeros(2, num_slots, dtype=torch.long)
        slots, interrupts = slice(0, num_slots), Interrupts(on_step=views.append)
        denoise(CountingDenoiser(), canvas, slots, policy, generators(2, 0), interrupts)
        seen[keeps_pace] = [int(view.is_locked.sum()) for view in views]
    assert seen[True][-1] == num_slots
    assert all(paced >= free for paced, free in zip(seen[True], seen[False], strict=True))
    assert (seen[False][-1] < num_slots) == (steps < num_slots)


@pytest.mark.parametrize("after", [0, 1, 3])
def test_cancel_at_step_k_runs_no_further_step(after: int) -> None:
    model = CountingDenoiser()
    policy = Policy(noise=UniformNoise(last=VOCAB - 1), max_steps=8)
    interrupts = Interrupts(is_cancelled=lambda: model.num_steps >= after)
    rows = denoise(model, torch.zeros(2, 6, dtype=torch.long), slice(1, 5), policy, generators(2, 0), interrupts)
    assert model.num_steps == after
    assert [row.ended for row in rows] == [Ended.CANCELLED] * 2
    assert [row.tokens for row in rows] == [[], []]


def test_deadline_reads_the_draft_out() -> None:
    """Time is up before the first step: one step is done all the same, since a draft must come from somewhere."""
    model = CountingDenoiser()
    policy = Policy(noise=UniformNoise(last=VOCAB - 1), max_steps=8)
    rows = denoise(
        model, torch.zeros(1, 6, dtype=torch.long), slice(1, 5), policy, generators(1, 0), Interrupts(deadline=0.0)
    )
    assert model.num_steps == 1
    assert rows[0].ended is Ended.DEADLINE
    assert len(rows[0].tokens) == 4


class Pin(LogitsProcessor):
    """What a user of `generate` must write to pin tokens (measured: nothing less does)."""

    def __init__(self, canvas: torch.Tensor, is_pinned: torch.Tensor) -> None:
        self.canvas, self.is_pinned = canvas, is_pinned

    def __call__(self, input_ids, scores):
        one_hot = torch.full_like(scores, float("-inf")).scatter(-1, self.canvas[..., None], 0.0)
        return torch.where(self.is_pinned[..., None], one_hot, scores)


def test_pinned_fill_agrees_with_generate_and_a_pinning_processor() -> None:
    """Greedy but for a hair (generate cannot be greedy), so that random numbers, which differ, hardly matter: the first
    step's argmax of every slot is the same, canvas for canvas."""
    config = tiny_config(layers=3)
    reference, engine = tiny_model(config), DiffusionGemma(tiny_model(config), FirstSignal.ZERO)
    slots, num = slice(3, 9), config.canvas_length
    is_pinned = torch.ones(1, num, dtype=torch.bool)
    is_pinned[:, slots] = False
    prompt = [2, *range(20, 40)]
    engine.encode(prompt)
    for seed in range(20):
        canvas = torch.randint(0, VOCAB, (1, num), generator=torch.Generator().manual_seed(seed))
        generator = torch.Generator().manual_seed(seed)
        policy = Policy(noise=UniformNoise(last=VOCAB - 1), max_steps=1)
        (row,) = denoise(engine, canvas, slots, policy, [generator])
        start = canvas.clone()
        start[0, slots] = UniformNoise(last=VOCAB - 1).draw(6, torch.Generator().manual_seed(seed))
        output = reference.generate(
            torch.tensor([prompt]),
            decoder_input_ids=start,
            logits_processor=LogitsProcessorList([Pin(canvas, is_pinned)]),
            max_denoising_steps=1,
            max_new_tokens=num,
            sampler_config=EntropyBoundSamplerConfig(entropy_bound=0.1),
            eos_token_id=None,
            pad_token_id=None,
        ).sequences[0, len(prompt) :]
        assert output[is_pinned[0]].tolist() == canvas[is_pinned].tolist()
        assert output[slots].tolist() == row.tokens
