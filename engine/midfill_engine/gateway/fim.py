"""Prompts in which a plugin has marked the hole itself, for the model that it believes to talk to.

    <|fim_prefix|>before<|fim_suffix|>after<|fim_middle|>        (Qwen, CodeGemma; others with other marks)

What is meant is a prefix and a suffix; that is what our engine takes. A file may contain such marks as text (this one
does), so they count only in their places: the first of their kind in front, the one that asks for the middle last.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from midfill_engine.api import Snippet


@dataclass(frozen=True, kw_only=True)
class Hole:
    """What a prompt means."""

    prefix: str
    suffix: str = ""
    snippets: tuple[Snippet, ...] = ()


@dataclass(frozen=True)
class _Marks:
    """As a model was trained with them; blanks are part of some."""

    prefix: str
    suffix: str
    middle: str


_PREFIX_FIRST = (
    _Marks("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),  # Qwen2.5-Coder, CodeGemma
    _Marks("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),  # StarCoder, Stable Code
    _Marks("<PRE> ", " <SUF>", " <MID>"),  # Code Llama
    _Marks("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),  # DeepSeek-Coder
    _Marks("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"),  # GLM
)
_SUFFIX_FIRST = (
    _Marks("[PREFIX]", "[SUFFIX]", ""),  # Codestral
    _Marks("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"),  # CodeGeeX
    _Marks("<fim_middle>", "<fim_prefix><fim_suffix>", ""),  # StarCoder, the suffix first
    _Marks("<|fim_middle|>", "<|fim_prefix|><|fim_suffix|>", ""),
)
_FILE = re.compile(r"<\|file_sep\|>|<file_sep>")
_TURNS = ("<|assistant|>\n", "<|assistant|>")  # CodeGeeX asks in a chat's turn


def read_prompt(prompt: str, suffix: str) -> Hole:
    """The hole of a completion request. A suffix of its own says that the prompt is plain text."""
    if suffix:
        return Hole(prefix=prompt, suffix=suffix)
    for marks in _SUFFIX_FIRST:
        if (hole := _suffix_first(prompt, marks)) is not None:
            return hole
    for marks in _PREFIX_FIRST:
        if (hole := _prefix_first(prompt, marks)) is not None:
            return hole
    return Hole(prefix=prompt)


def _prefix_first(prompt: str, marks: _Marks) -> Hole | None:
    body = prompt.rstrip()
    head, begin, rest = body.partition(marks.prefix)
    if not begin or not rest.endswith(marks.middle):
        return None
    prefix, hole, suffix = rest.removesuffix(marks.middle).partition(marks.suffix)
    return Hole(prefix=prefix, suffix=suffix, snippets=_files(head)) if hole else None


def _suffix_first(prompt: str, marks: _Marks) -> Hole | None:
    body = prompt
    for turn in _TURNS if marks.middle else ():
        body = body.removesuffix(turn)
    if not body.endswith(marks.middle):
        return None
    body = body.removesuffix(marks.middle) if marks.middle else body
    head, begin, rest = body.partition(marks.suffix)
    if not begin or (not marks.middle and head.strip()):
        return None
    suffix, hole, prefix = rest.partition(marks.prefix)
    return Hole(prefix=prefix, suffix=suffix) if hole else None


def _files(head: str) -> tuple[Snippet, ...]:
    """Files that are given before the hole, each with its name in a line of its own; the last may be the hole's."""
    parts = [part.partition("\n") for part in _FILE.split(head)[1:]]
    return tuple(Snippet(path=name.strip(), text=text) for name, _, text in parts if text.strip())
