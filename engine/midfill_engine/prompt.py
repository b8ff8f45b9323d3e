"""What the encoder reads, and what is pinned around the slots.

    [bos][file] prefix ....................... | tail ] slots [ head
    └─ encoded, kept from request to request ──┘ └─ the canvas ─┘

The window over a long prefix starts at an anchor that moves in large strides, so that typing only appends to what is
encoded: an anchor that moved with every character would throw the cache away with every character.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from midfill_engine.heal import Healing
from midfill_engine.tokens import TokenCodec

_CHARS_PER_TOKEN = 4  # how much text is tokenised to fill a budget; sparser text fills it with more, denser with less
_LONGEST_REST_OF_LINE = 1000  # characters
_SUFFIX_CHARS_PER_TOKEN = 8
_STRIDES = 4  # of a full window; the anchor moves by one of them at a time
_LINE_END = re.compile(r"\r\n?")


@dataclass(frozen=True, kw_only=True)
class PromptShape:
    """Token budgets and the special tokens that lead a prompt. `context`: prompt tokens, tail included."""

    context: int
    tail: int
    head: int
    bos: int
    file: int | None = None


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """Token ids: `encoded` for the encoder (never empty), `tail` and `head` pinned before and after the slots."""

    encoded: list[int]
    tail: list[int]
    head: list[int]


def build_prompt(prefix: str, suffix: str, healing: Healing, shape: PromptShape, codec: TokenCodec) -> Prompt:
    """Tokenise what stands around the hole. `healing` says how much of the prefix's end and of the suffix's beginning
    goes back into the slots instead."""
    prefix = prefix[: len(prefix) - len(healing.left)]
    suffix = suffix[len(healing.right) :]
    ids, is_whole = _window(prefix, shape.context - 2, codec)
    lead = [shape.bos, shape.file] if is_whole and shape.file is not None else [shape.bos]
    num_tail = min(shape.tail, len(ids))
    head = _head(suffix, shape.head, codec)
    return Prompt(encoded=lead + ids[: len(ids) - num_tail], tail=ids[len(ids) - num_tail :], head=head)


def _window(prefix: str, budget: int, codec: TokenCodec) -> tuple[list[int], bool]:
    """The last tokens of `prefix` from an anchored start, `budget` at most, and whether that is all of it.

    Two anchors, each moving in strides: the character from which on is tokenised, which bounds the work, and the token
    from which on is kept, which bounds the prompt.
    """
    budget = max(0, budget)
    start = _anchor(prefix, len(prefix) - budget * _CHARS_PER_TOKEN, max(1, budget * _CHARS_PER_TOKEN // _STRIDES))
    ids = codec.ids(as_trained(prefix[start:]))
    excess = len(ids) - budget
    if excess <= 0:
        return ids, start == 0
    stride = max(1, budget // _STRIDES)
    return ids[-(-excess // stride) * stride :], False


def _anchor(prefix: str, at_least: int, stride: int) -> int:
    """The first line start behind the next multiple of `stride`; in the midst of a line where that line is too long."""
    if at_least <= 0:
        return 0
    grid = -(-at_least // stride) * stride
    line_end = prefix.find("\n", grid, grid + stride)
    return min(len(prefix), line_end + 1 if line_end >= 0 else grid)


def _head(suffix: str, num_tokens: int, codec: TokenCodec) -> list[int]:
    """The first tokens of `suffix`. What is tokenised ends at a line end behind them, so that the cut shapes none of
    them: tokens never reach over a line end."""
    num_chars = max(1, _SUFFIX_CHARS_PER_TOKEN * num_tokens)
    while True:
        cut = _line_end(suffix, num_chars)
        ids = codec.ids(as_trained(suffix[:cut]))
        if len(ids) > num_tokens or cut == len(suffix):
            return ids[:num_tokens]
        num_chars *= 2


def _line_end(suffix: str, at_least: int) -> int:
    """Where the first line behind `at_least` characters ends; within a line where that goes on for too long."""
    longest = min(len(suffix), at_least + _LONGEST_REST_OF_LINE)
    line_end = suffix.find("\n", at_least, longest)
    return longest if line_end < 0 else line_end


def as_trained(text: str) -> str:
    """Text as models see it in training: lines end in `\\n`, and no byte order mark leads."""
    return _LINE_END.sub("\n", text).removeprefix("\ufeff")
