"""What the encoder reads: bounded, anchored, and only what a model saw in training."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midfill_engine.heal import Healing
from midfill_engine.prompt import Prompt, PromptShape, as_trained, build_prompt
from midfill_engine.tokens import TokenCodec
from support.scripted_model import BOS, FILE, byte_codec
from support.vocabularies import pocket_codec

SHAPE = PromptShape(context=64, tail=4, head=6, bos=BOS, file=FILE)
WIDE = PromptShape(context=384, tail=8, head=20, bos=2, file=4)
NONE = Healing()


class CountingCodec(TokenCodec):
    """Counts the characters that are tokenised."""

    def __init__(self, codec: TokenCodec) -> None:
        super().__init__(codec._tokenizer, codec.special)
        self.num_chars = 0

    def ids(self, text: str) -> list[int]:
        self.num_chars += len(text)
        return super().ids(text)


def bytes_of(prompt: Prompt, codec: TokenCodec) -> bytes:
    return codec.bytes_of([*prompt.encoded, *prompt.tail])


@pytest.mark.parametrize(
    ("prefix", "suffix"), [("", ""), ("", "x = 1"), ("a", ""), ("ab", "cd"), ("abcde", "x"), ("\n", "\n")]
)
def test_a_short_file_is_all_there(prefix: str, suffix: str) -> None:
    codec = byte_codec()
    prompt = build_prompt(prefix, suffix, NONE, SHAPE, codec)
    assert prompt.encoded[:2] == [BOS, FILE]
    assert bytes_of(prompt, codec) == prefix.encode()
    assert len(prompt.tail) == min(4, len(prefix))
    assert codec.bytes_of(prompt.head) == suffix.encode()[:6]


def test_the_file_token_says_that_the_file_begins_there() -> None:
    codec = byte_codec()
    for length in range(55, 80):
        prompt = build_prompt("x" * length, "", NONE, SHAPE, codec)
        is_whole = bytes_of(prompt, codec) == b"x" * length
        assert (FILE in prompt.encoded) == is_whole, length
    assert FILE not in build_prompt("a\n" * 5000, "", NONE, SHAPE, codec).encoded


PIECES = st.sampled_from(["x = 1\n", "日本語", "😀" * 40, " " * 300, "\r\n", "a" * 500, "\t", "é\n", "foo(bar)[0]\n"])


@settings(max_examples=80, deadline=None)
@given(
    prefix=st.lists(PIECES, max_size=60).map("".join),
    suffix=st.lists(PIECES, max_size=10).map("".join),
    context=st.integers(8, 400),
    head=st.integers(0, 30),
)
def test_the_prompt_is_the_end_of_the_prefix_within_its_budget(
    prefix: str, suffix: str, context: int, head: int
) -> None:
    codec = pocket_codec()
    shape = PromptShape(context=context, tail=4, head=head, bos=2, file=4)
    prompt = build_prompt(prefix, suffix, NONE, shape, codec)
    ids = [*prompt.encoded, *prompt.tail]
    assert len(ids) <= context
    assert as_trained(prefix).encode().endswith(bytes_of(prompt, codec))
    assert prompt.tail == ids[len(ids) - len(prompt.tail) :]
    assert len(prompt.tail) == min(4, len(ids) - 1 - (4 in prompt.encoded[:2]))
    assert prompt.head == codec.ids(as_trained(suffix))[:head]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("value = compute(first, second)\n" * 400, id="code"),
        pytest.param("日本語のコメント" * 800, id="dense, no line ends"),
        pytest.param("=-+*" * 3000, id="operators on one line"),
        pytest.param("😀\n" * 3000, id="emoji"),
    ],
)
def test_most_of_a_long_prefix_is_used(text: str) -> None:
    codec = pocket_codec()
    least = WIDE.context
    for length in range(len(text) - 800, len(text), 37):
        prompt = build_prompt(text[:length], "", NONE, WIDE, codec)
        least = min(least, len(prompt.encoded) + len(prompt.tail))
    assert least >= WIDE.context * 0.4, least


@pytest.mark.parametrize(
    ("text", "most"),
    [
        pytest.param("    total = total + value  # and so on\n" * 300, 6, id="code"),
        pytest.param("日本語のコメントです。\n" * 600, 20, id="three tokens a character"),
        pytest.param("x" * 100_000, 4, id="one line"),
        pytest.param("a=b;" * 20_000, 12, id="one dense line"),
    ],
)
def test_typing_only_appends(text: str, most: int) -> None:
    """Dense text slid through the window token by token, and each keystroke paid for the whole prompt."""
    codec = pocket_codec()
    before = build_prompt(text[:-500], "", NONE, WIDE, codec).encoded
    jumps = 0
    for left in range(499, -1, -1):
        encoded = build_prompt(text[: len(text) - left], "", NONE, WIDE, codec).encoded
        known = next(
            (n for n, (a, b) in enumerate(zip(before, encoded, strict=False)) if a != b), min(len(before), len(encoded))
        )
        jumps += known < len(before) - 4  # the last tokens may be joined with what is typed
        before = encoded
    assert jumps <= most


@pytest.mark.parametrize(
    "line", [pytest.param("x = 1\n", id="lines"), pytest.param("x", id="one line"), pytest.param(" ", id="blanks")]
)
def test_a_huge_file_costs_no_more_than_a_large_one(line: str) -> None:
    codec = CountingCodec(pocket_codec())
    text = line * (5_000_000 // len(line))
    build_prompt(text, text, NONE, WIDE, codec)
    assert codec.num_chars <= 4 * WIDE.context + 256 * WIDE.head
    used, codec.num_chars = codec.num_chars, 0
    build_prompt(text[:100_000], text[:100_000], NONE, WIDE, codec)
    assert codec.num_chars >= used / 2


def test_one_long_line_keeps_its_end() -> None:
    codec = byte_codec()
    text = "".join(chr(ord("a") + i % 26) for i in range(100_000))
    prompt = build_prompt(text, text, NONE, SHAPE, codec)
    assert text.encode().endswith(bytes_of(prompt, codec))
    assert len(bytes_of(prompt, codec)) >= 30


def test_what_is_healed_is_in_the_slots() -> None:
    codec = byte_codec()
    prompt = build_prompt("x = retu", "rn 1", Healing(left=" retu", right="rn"), SHAPE, codec)
    assert bytes_of(prompt, codec) == b"x ="
    assert codec.bytes_of(prompt.head) == b" 1"


@pytest.mark.parametrize("lead", ["", "x = 1\n\t", "\r\n\t", "\tx = 1\n", " x", "日本語"])
@pytest.mark.parametrize("run", [" ", "\t", "-", "a", "\n", "\r\n", "😀"])
def test_the_cut_of_a_long_suffix_shapes_no_token(lead: str, run: str) -> None:
    """160 characters of a suffix were tokenised for 20 tokens; a run of blanks gave fewer, the last of them cut, and
    with a token to spare the last but one."""
    codec = pocket_codec()
    suffix = lead + run * 300
    for head in (0, 1, 3, 6, 9, 20):
        shape = PromptShape(context=50, tail=4, head=head, bos=2, file=4)
        assert build_prompt("", suffix, NONE, shape, codec).head == codec.ids(as_trained(suffix))[:head]


def test_line_ends_are_those_of_training() -> None:
    """Files with CRLF were shown to a model that had never seen one."""
    codec = byte_codec()
    prompt = build_prompt("\ufeffa\r\nb\rc\n", "\r\nd\r", NONE, SHAPE, codec)
    assert bytes_of(prompt, codec) == b"a\nb\nc\n"
    assert codec.bytes_of(prompt.head) == b"\nd\n"


@pytest.mark.parametrize("context", [1, 2, 3])
def test_a_tiny_budget_is_kept(context: int) -> None:
    """With a budget of nothing, `ids[-0:]` was the whole prefix."""
    shape = PromptShape(context=context, tail=0, head=0, bos=BOS, file=FILE)
    prompt = build_prompt("x" * 1000, "y" * 1000, NONE, shape, byte_codec())
    assert len(prompt.encoded) <= max(1, context)
    assert not prompt.head
