"""Left to right with the shipped weights: as the bench's own way says, and blind to the suffix."""

from __future__ import annotations

import asyncio

import pytest

from midfill_engine.api import EngineOptions, FillRequest, FillResult, Finish, Limits, Mode
from midfill_engine.bench.rivals import LeftToRight
from midfill_engine.core import Control
from midfill_engine.evaluate.causal import CausalFiller, load_causal, open_causal
from midfill_engine.filler import Filler
from midfill_engine.models.loading import load
from midfill_engine.presets import find_preset

PREFIXES = (
    "import os\n\n\ndef total(values):\n    result = 0\n    for value in",
    "class A:\n    def __init__(self",
    "x",
)


@pytest.fixture(scope="module")
def filler() -> CausalFiller:
    return load_causal(EngineOptions(device="cpu"), lambda *_: None)


def ask(filler: CausalFiller, prefix: str, suffix: str = "", max_tokens: int = 24) -> FillResult:
    request = FillRequest(prefix=prefix, suffix=suffix, mode=Mode.LINE, limits=Limits(max_tokens=max_tokens))
    return filler.fill(request, Control())


@pytest.mark.parametrize("prefix", PREFIXES)
def test_agrees_with_the_bench(filler: CausalFiller, prefix: str) -> None:
    preset = find_preset("pocket")
    loaded = load(preset, "cpu", lambda *_: None)
    plain = Filler(preset, loaded)
    prompt = plain.plan(FillRequest(prefix=prefix, mode=Mode.LINE)).prompt
    tokens = LeftToRight(loaded.model, plain.banned).fill(prompt, 24)
    line = loaded.codec.text_of(tokens).partition("\n")[0]
    assert ask(filler, prefix).text == (line if line.strip() else "")


@pytest.mark.parametrize("prefix", PREFIXES)
def test_blind_to_the_suffix(filler: CausalFiller, prefix: str) -> None:
    assert ask(filler, prefix, "\n    return result\n").candidates == ask(filler, prefix).candidates


def test_the_token_limit(filler: CausalFiller) -> None:
    result = ask(filler, PREFIXES[0], max_tokens=1)
    assert result.num_steps == 1
    assert result.finish in (Finish.LENGTH, Finish.EMPTY)


def test_cancelled(filler: CausalFiller) -> None:
    result = filler.fill(FillRequest(prefix="x ="), Control(is_cancelled=lambda: True))
    assert (result.finish, result.candidates, result.num_steps) == (Finish.CANCELLED, (), 0)


def test_as_an_engine() -> None:
    async def ask_it() -> FillResult:
        engine = open_causal(EngineOptions(device="cpu"))
        try:
            return await engine.fill(FillRequest(prefix=PREFIXES[0], mode=Mode.LINE))
        finally:
            await engine.aclose()

    assert asyncio.run(ask_it()).preset == "pocket"
