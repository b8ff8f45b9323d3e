"""What the encoder reads, and what is pinned around the slots.

    [bos][file] prefix ....................... | tail ] slots [ head
    └─ encoded, kept from request to request ──┘ └─ the canvas ─┘

The window over a long prefix starts at an anchor that moves in large strides, so that typing only appends to what is
encoded: an anchor that moved with every character would throw the cache away with every character.
"""

from __future__ import annotations

from dataclasses import dataclass

from midfill_engine.heal import Healing
from midfill_engine.tokens import TokenCodec

_CHARS_PER_TOKEN = 4  # first guess of how much text fills the budget; what is too much is dropped in strides
_SUFFIX_CHARS_PER_TOKEN = 8


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
    head = codec.ids(suffix[: _SUFFIX_CHARS_PER_TOKEN * shape.head])[: shape.head]
    return Prompt(encoded=lead + ids[: len(ids) - num_tail], tail=ids[len(ids) - num_tail :], head=head)


def _window(prefix: str, budget: int, codec: TokenCodec) -> tuple[list[int], bool]:
    """The last tokens of `prefix` from an anchored start, `budget` at most, and whether that is all of it."""
    stride = max(1, budget * _CHARS_PER_TOKEN // 4)
    start = _anchor(prefix, len(prefix) - budget * _CHARS_PER_TOKEN, stride)
    while True:
        ids = codec.ids(prefix[start:])
        if len(ids) <= budget:
            return ids, start == 0
        if len(prefix) - start <= stride:  # one long line, or tokens of less than a character each
            return ids[-budget:], False
        start = _anchor(prefix, start + 1, stride)


def _anchor(prefix: str, at_least: int, stride: int) -> int:
    """The first line start behind the next multiple of `stride`; in the midst of a line where that line is too long."""
    if at_least <= 0:
        return 0
    grid = -(-at_least // stride) * stride
    line_end = prefix.find("\n", grid, grid + stride)
    return min(len(prefix), line_end + 1 if line_end >= 0 else grid)
