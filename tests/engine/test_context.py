"""What is read before the prefix: within its budget, at rest while somebody types, and worth reading."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midfill_engine.api import FillRequest, Snippet
from midfill_engine.context import Surroundings
from midfill_engine.filler import Filler
from midfill_engine.heal import Healing
from midfill_engine.prompt import Prompt, PromptShape, build_prompt
from midfill_engine.tokens import TokenCodec
from support.scripted_model import BOS, FILE, ScriptedModel, byte_codec, canvas, loaded_of, preset_of
from support.vocabularies import pocket_codec

NONE = Healing()
SHAPE = PromptShape(
    context=400, tail=8, head=20, bos=2, file=4, snippet_tokens=80, far_suffix_tokens=60, head_tokens=60, wish_tokens=60
)
IMPORTS = '"""Talk."""\nimport os\nfrom typing import (\n    Any,\n    Final,\n)\n\nLIMIT = 5\n'
CLASS = "class Store:\n    def total_of(self, wanted: str, *, deep: bool) -> int:\n"
BODY = "".join(f"        self.number_{i} = wanted + str({i})\n" for i in range(120))
BELOW = "\n" + "".join(f"def below_{i}(value):\n    return value * {i}\n\n" for i in range(80))
OTHER = Surroundings(
    language="python",
    snippets=(Snippet(path="lib/rates.py", text="def rate_of(country):\n    return RATES[country]\n"),),
    selection="old = 1",
    instruction="use a dict",
)


def text_of(prompt: Prompt, codec: TokenCodec) -> str:
    return codec.text_of([token for token in prompt.encoded if token not in (2, 4, BOS, FILE)] + prompt.tail)


def test_all_of_it_stands_before_the_prefix_in_this_order() -> None:
    codec = pocket_codec()
    prompt = build_prompt(IMPORTS + CLASS + BODY, BELOW, NONE, SHAPE, codec, OTHER)
    text = text_of(prompt, codec)
    parts = [
        "# lib/rates.py\ndef rate_of(country):\n    return RATES[country]\n# further below:\n",
        "import os\nfrom typing import (\n    Any,\n    Final,\n)\nclass Store:\n    def total_of(self, wanted: str,",
        "# Replace this:\nold = 1\n# To do here: use a dict\n",
        BODY[-60:],
    ]
    places = [text.find(part) for part in parts]
    assert min(places) >= 0, text
    assert places == sorted(places)
    assert text.endswith(BODY[-60:])
    assert "LIMIT" not in text
    assert "Talk" not in text
    far = text[text.index("below:\n") + 7 : places[1]]
    assert far in BELOW
    assert far not in codec.text_of(prompt.head)


def test_a_prefix_that_is_whole_needs_no_head_of_its_own() -> None:
    codec = pocket_codec()
    prompt = build_prompt(IMPORTS + CLASS, "", NONE, SHAPE, codec, Surroundings(language="python"))
    assert prompt.encoded[:2] == [2, 4]
    assert text_of(prompt, codec) == IMPORTS + CLASS


PIECES = st.sampled_from(
    ["import os\n", "x = 1\n", "日本語", "😀" * 40, "def f(a):\n    ", "a" * 500, "\r\n", CLASS, "}"]
)
BUDGETS = st.integers(0, 90)


@settings(max_examples=80, deadline=None)
@given(
    prefix=st.lists(PIECES, max_size=60).map("".join),
    suffix=st.lists(PIECES, max_size=40).map("".join),
    snippets=st.lists(st.lists(PIECES, max_size=5).map("".join), max_size=3),
    wish=PIECES,
    context=st.integers(8, 400),
    budgets=st.tuples(BUDGETS, BUDGETS, BUDGETS, BUDGETS),
)
def test_whatever_is_around_the_budgets_are_kept_and_half_is_for_the_prefix(
    prefix: str, suffix: str, snippets: list[str], wish: str, context: int, budgets: tuple[int, int, int, int]
) -> None:
    codec = pocket_codec()
    plain = PromptShape(context=context, tail=4, head=6, bos=2, file=4)
    names = ("snippet_tokens", "far_suffix_tokens", "head_tokens", "wish_tokens")
    shape = replace(plain, **dict(zip(names, budgets, strict=True)))
    others = tuple(Snippet(path="a.py", text=text) for text in snippets)
    surroundings = Surroundings(language="python", snippets=others, selection=wish, instruction=wish)
    prompt = build_prompt(prefix, suffix, NONE, shape, codec, surroundings)
    ids = [*prompt.encoded, *prompt.tail]
    assert len(ids) <= context
    own = build_prompt(prefix, suffix, NONE, plain, codec)
    assert len(own.tail) == len(prompt.tail) or len(prompt.tail) >= min(4, context // 8)
    assert prompt.head == build_prompt(prefix, suffix, NONE, plain, codec).head


@pytest.mark.parametrize(
    "line", ["        total = total + value(wanted)  # (and so on", "        if deep: return {1: [2, 3]}"]
)
def test_typing_only_appends_with_everything_around(line: str) -> None:
    """The text that is typed is no whole statement yet, and a parser sees another tree at each key."""
    codec = pocket_codec()
    before, jumps = None, 0
    typed = "\n".join([line] * 8)
    for length in range(len(typed)):
        text = IMPORTS + CLASS + BODY + typed[:length]
        encoded = build_prompt(text, BELOW, NONE, SHAPE, codec, OTHER).encoded
        if before is not None:
            same = sum(1 for _ in _common(before, encoded))
            jumps += same < len(before) - 8
        before = encoded
    assert jumps <= 6  # as often as the window over the prefix moves on by a stride


def test_the_far_suffix_stays_where_it_is_while_the_cursor_comes_nearer() -> None:
    codec = pocket_codec()
    lines = BELOW.splitlines(keepends=True)
    shape = replace(SHAPE, head_tokens=0)
    below = ["".join(lines[row:]) for row in range(len(lines) - 60)]
    seen = [text_of(build_prompt("", text, NONE, shape, codec, OTHER), codec) for text in below]
    assert sum(a != b for a, b in pairwise(seen)) <= len(seen) / 2


def _common(one: list[int], other: list[int]) -> list[int]:
    same = []
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        same.append(a)
    return same


@pytest.mark.parametrize("can_instruct", [True, False])
def test_a_wish_is_read_by_who_can_follow_one(can_instruct: bool) -> None:
    model = ScriptedModel([canvas("x", end=True)])
    preset = preset_of(context=400, can_instruct=can_instruct, snippet_tokens=100)
    request = FillRequest(
        prefix="a = ",
        language="rust",
        selection="dict()",
        instruction="as a map",
        snippets=(Snippet(path="b.rs", text="struct B;"),),
    )
    plan = Filler(preset, loaded_of(model)).plan(request)
    text = text_of(plan.prompt, byte_codec())
    wish = "// Replace this:\ndict()\n// To do here: as a map\n" if can_instruct else ""
    assert text == f"// b.rs\nstruct B;\n{wish}a = "
