"""The shipped weights on real files, cut at every offset of sampled lines: whatever the model says, what was given
stands unchanged around it."""

from __future__ import annotations

import bisect
import dataclasses as dataclasses_module
import random
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from midfill_engine.api import Draft, FillRequest, FillResult, Finish, Limits, Mode
from midfill_engine.core import Control
from midfill_engine.filler import Filler
from midfill_engine.models.loading import Loaded, load
from midfill_engine.presets import find_preset
from midfill_engine.shape import splits_line_end

MANY_KINDS = """\
# 日本語のコメント ✓ don't (stop)
def größe(naïve: str = "😀👩‍👧") -> int:
\tif naïve == '\\u2028\u2028':
\t\treturn {"ключ": [1, 2, (3,)]}["ключ"][0]\r
\tx = f"{naïve!r:>{10}} </s><null>"\t# \u200fשלום\f
"""
FILES = {
    "bisect": Path(bisect.__file__).read_text("utf-8"),
    "dataclasses": Path(dataclasses_module.__file__).read_text("utf-8"),
    "textwrap, CRLF": Path(textwrap.__file__).read_text("utf-8").replace("\n", "\r\n"),
    "many kinds": MANY_KINDS,
}
SLOTS = 6
SPECIALS = ("<pad>", "<eos>", "<bos>", "<null>", "<file>", "<reserved")


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    return load(find_preset("pocket"), "cpu", lambda *_: None)


@pytest.fixture(scope="module", params=[False, True], ids=["as trained", "healed"])
def filler(request: pytest.FixtureRequest, loaded: Loaded) -> Filler:
    preset = replace(find_preset("pocket"), heals=request.param, line_slots=SLOTS, block_slots=SLOTS)
    return Filler(preset, loaded)


def offsets(text: str, num: int, seed: int) -> Iterator[int]:
    """Every offset of lines drawn by chance, until there are `num`."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:n])) for n in range(len(lines))]
    order = random.Random(seed).sample(range(len(lines)), len(lines))
    every = [at for n in order if lines[n].strip() for at in range(starts[n], starts[n] + len(lines[n]) + 1)]
    yield from every[:num]


def check(result: FillResult, request: FillRequest, drafts: list[Draft]) -> None:
    assert bool(result.text) == (result.finish not in (Finish.EMPTY, Finish.CANCELLED))
    assert result.num_tokens <= request.limits.max_tokens
    assert result.num_steps == len(drafts) if request.num_candidates == 1 else True
    for candidate in result.candidates:
        text = candidate.text
        whole = request.prefix + text + request.suffix
        assert whole.encode().startswith(request.prefix.encode())
        assert whole.encode().endswith(request.suffix.encode())
        assert text.strip()
        assert text.encode().decode() == text
        assert not any(special in text for special in SPECIALS)
        assert "\r" not in text
        assert "\ufffd" not in text
        assert request.mode is not Mode.LINE or "\n" not in text
        assert 0 < candidate.confidence <= 1
        assert not splits_line_end(request.prefix, request.suffix)


@pytest.mark.parametrize("name", FILES)
def test_what_is_given_stands_around_what_comes(filler: Filler, name: str) -> None:
    text = FILES[name]
    num_offered = 0
    for n, at in enumerate(offsets(text, 38, seed=len(name))):
        request = FillRequest(
            prefix=text[:at],
            suffix=text[at:],
            mode=(Mode.LINE, Mode.BLOCK)[n % 2],
            limits=Limits(max_steps=2, max_tokens=SLOTS),
            seed=n,
        )
        drafts: list[Draft] = []
        result = filler.fill(request, Control(on_draft=drafts.append))
        check(result, request, drafts)
        num_offered += bool(result.text)
    assert num_offered, "nothing was offered, so nothing was tested"


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    ("prefix", "suffix"),
    [
        pytest.param("", "", id="empty file"),
        pytest.param("\n", "", id="one line end"),
        pytest.param("", "x = 1\n", id="suffix only"),
        pytest.param("\0\0a", "\0", id="NUL"),
        pytest.param("a = '\ud83d", "\ude00'", id="between surrogates"),
        pytest.param("x" * 1_000_000, "y" * 1_000_000, id="one line of megabytes"),
        pytest.param(" " * 50_000, " " * 50_000, id="blanks"),
        pytest.param("a = 1\r", "\nb", id="in a line end"),
        pytest.param("\f\ndef f():\n    ", "\f", id="form feeds"),
        pytest.param("שלום = ", " + עולם\n", id="right to left"),
        pytest.param("<null><pad>", "<eos>", id="spelt specials"),
        pytest.param("e", "\u0301", id="before a combining mark"),
        pytest.param("\ufeff", "\ufeffx", id="byte order marks"),
    ],
)
def test_strange_holes_are_filled_or_left(filler: Filler, prefix: str, suffix: str, mode: Mode) -> None:
    request = FillRequest(prefix=prefix, suffix=suffix, mode=mode, limits=Limits(max_steps=2, max_tokens=SLOTS))
    result = filler.fill(request, Control())
    assert "\r" not in result.text
    assert bool(result.text) == (result.finish is not Finish.EMPTY)
    result.text.encode()


def test_one_token_is_enough(filler: Filler) -> None:
    for prefix in ("x = ", "retu", "    "):
        request = FillRequest(prefix=prefix, suffix="\n", limits=Limits(max_tokens=1, max_steps=1))
        result = filler.fill(request, Control())
        assert result.num_tokens <= 1


def test_what_the_model_sees_and_what_is_healed_is_what_was_given(filler: Filler, loaded: Loaded) -> None:
    text = FILES["bisect"]
    for at in offsets(text, 60, seed=3):
        plan = filler.plan(FillRequest(prefix=text[:at], suffix=text[at:]))
        before = loaded.codec.bytes_of(plan.prompt.encoded + plan.prompt.tail).decode() + plan.healing.left
        after = plan.healing.right + loaded.codec.bytes_of(plan.prompt.head).decode()
        assert text[:at].endswith(before)
        assert text[at:].startswith(after)
        assert len(before) > min(at, 300) - 1
