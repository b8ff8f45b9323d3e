"""What the encoder reads, and what is pinned around the slots.

    [bos] what `context` has to say [file] prefix ... | tail ] slots [ head
    └─ encoded, kept from request to request ─────────┘ └─ the canvas ─┘

The window over a long prefix starts at an anchor that moves in large strides, so that typing only appends to what is
encoded: an anchor that moved with every character would throw the cache away with every character.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from midfill_engine.context import Surroundings, far_suffix_ids, head_ids, snippet_ids, wish_ids
from midfill_engine.heal import Healing
from midfill_engine.tokens import TokenCodec

_CHARS_PER_TOKEN = 4  # how much text is tokenised to fill a budget; sparser text fills it with more, denser with less
_LONGEST_REST_OF_LINE = 1000  # characters
_SUFFIX_CHARS_PER_TOKEN = 8
_STRIDES = 4  # of a full window; the anchor moves by one of them at a time
_SHARE_BESIDES = 2  # at most the second part of a prompt is something else than the prefix
_LINE_END = re.compile(r"\r\n?")


@dataclass(frozen=True, kw_only=True)
class PromptShape:
    """Token budgets and the special tokens that lead a prompt. `context`: prompt tokens, tail included; of these at
    most `snippet_tokens` from other files, `far_suffix_tokens` of what comes behind the head, `head_tokens` of imports
    and signatures where the prefix is cut, `wish_tokens` of what was selected and is wanted."""

    context: int
    tail: int
    head: int
    bos: int
    file: int | None = None
    snippet_tokens: int = 0
    far_suffix_tokens: int = 0
    head_tokens: int = 0
    wish_tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """Token ids: `encoded` for the encoder (never empty), `tail` and `head` pinned before and after the slots."""

    encoded: list[int]
    tail: list[int]
    head: list[int]


@dataclass(frozen=True, kw_only=True)
class _Window:
    """The last tokens of a prefix; `is_whole`: that is all of it."""

    ids: list[int]
    is_whole: bool


NOTHING_ELSE = Surroundings()


def build_prompt(
    prefix: str,
    suffix: str,
    healing: Healing,
    shape: PromptShape,
    codec: TokenCodec,
    surroundings: Surroundings = NOTHING_ELSE,
) -> Prompt:
    """Tokenise what stands around the hole. `healing` says how much of the prefix's end and of the suffix's beginning
    goes back into the slots instead."""
    prefix = prefix[: len(prefix) - len(healing.left)]
    suffix = suffix[len(healing.right) :]
    head = _head(suffix, shape.head, codec)
    besides, window = _besides_and_window(prefix, suffix, head, shape, codec, surroundings)
    lead = [shape.bos, *besides]
    if window.is_whole and shape.file is not None:
        lead.append(shape.file)
    num_tail = min(shape.tail, len(window.ids))
    split = len(window.ids) - num_tail
    return Prompt(encoded=lead + window.ids[:split], tail=window.ids[split:], head=head)


def _besides_and_window(
    prefix: str, suffix: str, head: list[int], shape: PromptShape, codec: TokenCodec, surroundings: Surroundings
) -> tuple[list[int], _Window]:
    """What is read before the prefix, and how much of the prefix there is room for behind it. What the file's own head
    may need is set aside as soon as the prefix is cut, so that the window does not depend on what is found."""
    language, budget = surroundings.language, max(0, shape.context - 2)
    room = budget // _SHARE_BESIDES
    wish = wish_ids(surroundings, min(shape.wish_tokens, room), codec)
    room -= len(wish)
    far_budget = min(shape.far_suffix_tokens, room)
    far = (
        far_suffix_ids(as_trained(suffix), len(codec.text_of(head)), far_budget, language, codec) if far_budget else []
    )
    room -= len(far)
    snippets = snippet_ids(surroundings, min(shape.snippet_tokens, room), codec)
    room -= len(snippets)
    budget -= len(snippets) + len(far) + len(wish)
    window, own = _window(prefix, budget, codec), list[int]()
    set_aside = min(shape.head_tokens, room)
    if set_aside and not window.is_whole:
        window = _window(prefix, budget - set_aside, codec)
        text = as_trained(prefix)
        cut = len(text) - len(codec.text_of(window.ids))
        own = head_ids(text, as_trained(suffix), cut, set_aside, language, codec)
    return [*snippets, *far, *own, *wish], window


def _far_suffix(suffix: str, head: list[int], budget: int, language: str, codec: TokenCodec) -> list[int]:
    if not budget:
        return []
    return far_suffix_ids(as_trained(suffix), len(codec.text_of(head)), budget, language, codec)


def _window(prefix: str, budget: int, codec: TokenCodec) -> _Window:
    """The last tokens of `prefix` from an anchored start, `budget` at most.

    Two anchors, each moving in strides: the character from which on is tokenised, which bounds the work, and the token
    from which on is kept, which bounds the prompt.
    """
    budget = max(0, budget)
    start = _anchor(prefix, len(prefix) - budget * _CHARS_PER_TOKEN, max(1, budget * _CHARS_PER_TOKEN // _STRIDES))
    ids = codec.ids(as_trained(prefix[start:]))
    excess = len(ids) - budget
    if excess <= 0:
        return _Window(ids=ids, is_whole=start == 0)
    stride = max(1, budget // _STRIDES)
    return _Window(ids=ids[-(-excess // stride) * stride :], is_whole=False)


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
