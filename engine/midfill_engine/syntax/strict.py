"""Parsers that are stricter than a grammar: Python's own, and that of TOML.

A grammar for editors takes `def f(*, *): ...`, a block without a body and TOML's `a = 1 b = 2`. Where the text around a
place is whole, these parsers have the last word: some word would parse there, so what is offered has to. Where nothing
would, because the text is cut or somebody has just begun to write it, they cannot tell.
"""

from __future__ import annotations

import ast
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

Parses = Callable[[str], bool]
BEFORE, AFTER = 12_000, 6_000
_PROBES: Mapping[str, tuple[str, ...]] = {
    "python": ("", "pass", "x", " x", "= 0", " = 0,", "x,", "x: x = 0,", "if x:", ":", " = (", " x(", "):", ") -> x:"),
    "toml": ("", "x = 0", "0", " = 0", "[x]", '"'),
}
_GOES_ON = (")", "]", "}", "else", "elif", "except", "finally")


def parses_as_python(text: str) -> bool:
    """Whether Python's own parser takes it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def parses_as_toml(text: str) -> bool:
    """Whether it is TOML."""
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


_PARSERS: Mapping[str, Parses] = {"python": parses_as_python, "toml": parses_as_toml}


class Strict:
    """The strict parser at one place in a text; knows nothing where there is none for the language."""

    def __init__(self, prefix: str, suffix: str, language: str) -> None:
        self._parses = _PARSERS.get(language)
        self._probes = _PROBES.get(language, ())
        is_python = language == "python"
        self._before = _from_top_level(prefix) if is_python else prefix
        self._after = _to_top_level(suffix) if is_python else suffix

    @property
    def is_known(self) -> bool:
        """Whether there is a parser for the language."""
        return self._parses is not None

    def is_sound(self, middle: str, num_replaced: int = 0) -> bool:
        """Whether the text parses with the middle; false where nobody can tell."""
        return self._parses is not None and self._parses(self._before + middle + self._after[num_replaced:])

    def is_worse(self, middle: str, endings: Iterator[str], num_replaced: int = 0) -> bool:
        """Whether the text does not parse with the middle, whatever ending it gets, where something else would."""
        if self._parses is None or self.is_sound(middle, num_replaced) or not self._is_whole:
            return False
        return not any(self.is_sound(middle + ending, num_replaced) for ending in endings if ending)

    @cached_property
    def _is_whole(self) -> bool:
        return any(map(self.is_sound, self._probes))


def _from_top_level(prefix: str) -> str:
    """The end of a long text or of one that was cut, from a line on that begins a statement of its own."""
    if len(prefix) <= BEFORE and not prefix[:1].isspace():
        return prefix
    lines = prefix[-BEFORE:].split("\n")
    first = next((row for row, line in enumerate(lines[1:-1], 1) if _begins_statement(line)), 0)
    return "\n".join(lines[first:]) if first else prefix


def _to_top_level(suffix: str) -> str:
    """The beginning of a long text, up to a line that begins a statement of its own."""
    if len(suffix) <= AFTER:
        return suffix
    lines = suffix[:AFTER].split("\n")[:-1]
    last = next((row for row in range(len(lines) - 1, 0, -1) if _begins_statement(lines[row])), 0)
    return "\n".join([*lines[:last], ""]) if last else suffix


def _begins_statement(line: str) -> bool:
    return bool(line) and (line[0].isalpha() or line[0] in "@_") and not line.startswith(_GOES_ON)
