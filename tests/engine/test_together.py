"""Several holes on one canvas."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import torch

from midfill_engine.api import Draft, FillRequest, Finish, Limits, Mode
from midfill_engine.core import Control
from midfill_engine.denoise.length import EachLength, FixedLength, NullLength
from midfill_engine.denoise.loop import Policy, Slots, denoise
from midfill_engine.denoise.noise import UniformNoise
from midfill_engine.filler import Filler
from midfill_engine.models.base import Encoded
from midfill_engine.models.dense import DenseStack, fits_dense_stack
from midfill_engine.models.diffusion_gemma import DiffusionGemma
from midfill_engine.models.loading import Loaded, load
from midfill_engine.presets import find_preset
from midfill_engine.together import Sizes, lay_out, modes_of, num_that_fit, read_each
from support.tiny import CONFIGS, tiny_model

PARTS = ("def area(w, h):\n    size = ", "\n    print(size, ", ")\n    return ", "\n\n\nprint(area(2, 3))\n")
REQUEST = FillRequest(prefix=PARTS[0], between=PARTS[1:3], suffix=PARTS[3], mode=Mode.LINE, limits=Limits(max_tokens=8))
TOGETHER = replace(find_preset("pocket"), max_holes=8, has_causal_draft=False)
NULL = 3


class Watched:
    """The shipped model; remembers the canvases it was shown."""

    def __init__(self, model: DiffusionGemma) -> None:
        self._model = model
        self.canvases: list[torch.Tensor] = []
        self.slots: list[Slots] = []

    device = property(lambda self: self._model.device)
    vocab_size = property(lambda self: self._model.vocab_size)

    def encode(self, ids: list[int]) -> Encoded:
        return self._model.encode(ids)

    def slot_logits(self, canvas: torch.Tensor, slots: Slots, last: object) -> torch.Tensor:
        self.canvases.append(canvas.clone())
        self.slots.append(slots)
        return self._model.slot_logits(canvas, slots, last)  # type: ignore[arg-type]

    def forget(self) -> None:
        self._model.forget()


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    return load(TOGETHER, "cpu", lambda *_: None)


@pytest.fixture
def watched(loaded: Loaded) -> Watched:
    return Watched(loaded.model)


@pytest.fixture
def filler(loaded: Loaded, watched: Watched) -> Filler:
    return Filler(TOGETHER, replace(loaded, model=watched))


@pytest.mark.parametrize("name", CONFIGS)
def test_slots_by_number_and_as_one_run_are_the_same(name: str) -> None:
    """The model's logits, and all that the loop makes of them, bit for bit."""
    model = tiny_model(CONFIGS[name])
    stacks = [None, DenseStack(model)] if fits_dense_stack(model) else [None]
    for stack in stacks:
        engine = DiffusionGemma(model, stack=stack)
        engine.encode(list(range(3, 40)))
        canvas = torch.randint(3, 97, (2, 12), generator=torch.Generator().manual_seed(0))
        policy = Policy(noise=UniformNoise(first=3, last=96), max_steps=5)
        both: list[Slots] = [slice(2, 9), torch.arange(2, 9)]
        assert torch.equal(*(engine.slot_logits(canvas, slots, None) for slots in both))
        one, other = (
            denoise(engine, canvas, slots, policy, [torch.Generator().manual_seed(i) for i in (1, 2)]) for slots in both
        )
        assert one == other


def test_each_hole_ends_by_itself() -> None:
    """As if the others were not there, whatever stands in them."""
    rng = random.Random(1)
    null = NullLength(null=NULL)
    for _ in range(200):
        sizes = tuple(rng.randint(1, 5) for _ in range(rng.randint(1, 4)))
        each = EachLength(sizes=sizes, lengths=(null,) * len(sizes))
        tokens = torch.tensor([[rng.choice([NULL, 7, 8]) for _ in range(sum(sizes))] for _ in range(2)])
        locked = torch.tensor([[rng.random() < 0.5 for _ in range(sum(sizes))] for _ in range(2)])
        parts = zip(tokens.split(sizes, 1), locked.split(sizes, 1), strict=True)
        assert torch.equal(each.behind_end(tokens, locked), torch.cat([null.behind_end(*part) for part in parts], 1))
        row = tokens[0].tolist()
        assert each.cut_each(row) == [null.cut(part.tolist()) for part in tokens[0].split(sizes)]
    assert EachLength(sizes=(2,), lengths=(FixedLength(),)).filler is None


def test_what_stands_between_the_holes_never_changes(filler: Filler, watched: Watched) -> None:
    result = filler.fill(replace(REQUEST, num_candidates=3), Control())
    assert watched.canvases
    first = watched.canvases[0]
    for canvas, slots in zip(watched.canvases, watched.slots, strict=True):
        assert isinstance(slots, torch.Tensor)
        pinned = torch.ones(canvas.shape[1], dtype=torch.bool)
        pinned[slots] = False
        assert int(pinned.sum()) < canvas.shape[1]
        assert (canvas[:, pinned] == first[0, pinned]).all()
    assert result.candidates
    for candidate in result.candidates:
        assert len(candidate.texts) == 3
        assert any(candidate.texts)
        assert not any("\n" in text for text in candidate.texts)


def test_all_holes_share_their_steps(filler: Filler, watched: Watched) -> None:
    """Three holes in no more passes than one hole may take."""
    result = filler.fill(REQUEST, Control())
    assert len(watched.canvases) == result.num_steps <= TOGETHER.max_steps


def test_holes_that_do_not_fit_on_one_canvas_are_filled_in_groups(loaded: Loaded, watched: Watched) -> None:
    filler = Filler(replace(TOGETHER, max_holes=2), replace(loaded, model=watched))
    result = filler.fill(REQUEST, Control())
    num_slots = [len(slots) if isinstance(slots, torch.Tensor) else slots.stop - slots.start for slots in watched.slots]
    assert set(num_slots) == {16, 8}
    assert num_slots == sorted(num_slots, reverse=True)
    assert result.candidates
    assert len(result.candidates[0].texts) == 3


def test_drafts_tell_which_hole_they_are_of(filler: Filler) -> None:
    drafts: list[Draft] = []
    result = filler.fill(REQUEST, Control(on_draft=drafts.append))
    assert [draft.hole for draft in drafts] == [0, 1, 2] * result.num_steps
    assert [draft.step for draft in drafts[::3]] == list(range(1, result.num_steps + 1))


@pytest.mark.parametrize("num_steps", [0, 1, 2])
def test_cancelling_runs_no_further_step(filler: Filler, watched: Watched, num_steps: int) -> None:
    result = filler.fill(REQUEST, Control(is_cancelled=lambda: len(watched.canvases) >= num_steps))
    assert (result.finish, result.candidates, len(watched.canvases)) == (Finish.CANCELLED, (), num_steps)


def test_a_row_is_the_same_alone_and_in_a_batch(filler: Filler) -> None:
    sampled = replace(REQUEST, temperature=0.7)
    three = filler.fill(replace(sampled, num_candidates=3), Control())
    alone = [filler.fill(replace(sampled, seed=seed), Control()).candidates for seed in range(3)]
    assert {each.texts for each in three.candidates} == {each[0].texts for each in alone if each}


def test_how_many_fit_is_a_matter_of_tokens(loaded: Loaded) -> None:
    codec = loaded.codec
    sizes = Sizes(canvas=100, max_holes=9, line_slots=8, block_slots=40)
    for between in ("\nx = ", "\n" + "a = 1\n" * 30, "\n" + "a = 1\n" * 4000):
        request = replace(REQUEST, between=(between,) * 3)
        num_holes = num_that_fit(request, 10, sizes, codec)
        layouts = [
            lay_out(replace(request, between=request.between[: n - 1]), [5] * 4, [6] * 6, sizes, codec)
            for n in (num_holes, num_holes + 1)
            if n <= 4
        ]
        assert num_holes == 1 or len(layouts[0].ids) <= 100
        assert len(layouts) == 1 or len(layouts[1].ids) > 100
    assert num_that_fit(REQUEST, 10, replace(sizes, max_holes=2), codec) == 2


def test_modes_are_those_of_each_hole() -> None:
    request = FillRequest(prefix="def f():\n    ", between=("\n\n\nx = ", "\nif x:\n    "), suffix="\n")
    assert modes_of(request) == (Mode.BLOCK, Mode.LINE, Mode.BLOCK)


def test_each_is_read_between_its_own_neighbours() -> None:
    seen: list[tuple[str, str, str]] = []

    def read(text: str, _mode: Mode, prefix: str, suffix: str) -> str:
        seen.append((text, prefix, suffix))
        return text.strip()

    request = FillRequest(prefix="a", between=("b", "c"), suffix="d")
    assert read_each(request, (Mode.LINE,) * 3, [" 1 ", " 2 ", " 3 "], read) == ("1", "2", "3")
    assert seen == [(" 1 ", "a", "b 2 c 3 d"), (" 2 ", "a1b", "c 3 d"), (" 3 ", "a1b2c", "d")]
