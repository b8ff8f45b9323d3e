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
from dataclasses import dataclass
from functools import cached_property

Parses = Callable[[str], bool]
BEFORE, AFTER = 12_000, 6_000
_PROBES: Mapping[str, tuple[str, ...]] = {
    "python": (
        "",
        "pass",
        "x",
        " x",
        "= 0",
        " = 0,",
        "x,",
        "x: x = 0,",
        "if x:",
        ":",
        " = (",
        " x(",
        "x(",
        "):",
        ") -> x:",
    ),
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


@dataclass(frozen=True)
class _Scope:
    """A part of the text around the place, `before` and `after` it, and who parses it."""

    before: str
    after: str
    parses: Parses

    def takes(self, middle: str, num_replaced: int = 0) -> bool:
        return self.parses(self.before + middle + self.after[num_replaced:])


class Strict:
    """The strict parser at one place in a text; knows nothing where there is none for the language.

    A fault elsewhere in the text is no reason to say nothing: then the statement around the place is looked at alone.
    """

    def __init__(self, prefix: str, suffix: str, language: str) -> None:
        self._probes = _PROBES.get(language, ())
        parses = self._parses = _PARSERS.get(language)
        self._whole = self._statement = None
        if parses is not None:
            is_python = language == "python"
            self._whole = _Scope(
                *(_from_top_level(prefix), _to_top_level(suffix)) if is_python else (prefix, suffix), parses
            )
            self._statement = _Scope(_last_statement(prefix), _rest_of_statement(suffix), parses) if is_python else None

    @property
    def is_known(self) -> bool:
        """Whether there is a parser for the language."""
        return self._whole is not None

    def is_sound(self, middle: str, num_replaced: int = 0) -> bool:
        """Whether the text parses with the middle; false where nobody can tell."""
        if self._whole is None:
            return False
        if self._whole.takes(middle, num_replaced):
            return True
        scope = self._judged
        return scope is not None and scope is not self._whole and scope.takes(middle, num_replaced)

    def is_worse(self, middle: str, endings: Iterator[str], num_replaced: int = 0) -> bool:
        """Whether the text does not parse with the middle, whatever ending it gets, where something else would."""
        judged = None if self.is_sound(middle, num_replaced) else self._judged
        scope = self._near or judged  # the statement alone is parsed ten times faster
        if judged is None or scope is None:
            return False
        return not any(scope.takes(middle + end, num_replaced) for end in endings if end)

    @cached_property
    def _judged(self) -> _Scope | None:
        """The largest scope in which something would parse."""
        if self._whole is None:
            return None
        probes = ("", *self._fitting) if self._statement is not None else self._probes
        return self._whole if any(map(self._whole.takes, probes)) else self._near

    @cached_property
    def _near(self) -> _Scope | None:
        """The statement around the place, if something would parse in it. What looks like one may be a docstring's."""
        if self._statement is None or self._whole is None or not self._fitting:
            return None
        is_prose = any(self._whole.before.count(quotes) % 2 for quotes in ('"""', "'''"))
        return None if is_prose else self._statement

    @cached_property
    def _fitting(self) -> tuple[str, ...]:
        """What would parse in the statement."""
        takes = self._statement.takes if self._statement is not None else None
        return next(((probe,) for probe in self._probes if takes is not None and takes(probe)), ())


def _last_statement(prefix: str) -> str:
    """The end of a text, from the last line on that begins a statement at the margin."""
    lines = prefix[-BEFORE:].split("\n")
    rows = range(len(lines) - 1, -1, -1)
    first = next((row for row in rows if _begins_statement(lines[row]) and lines[row - 1][:1] != "@"), 0)
    return "\n".join(lines[first:])


def _rest_of_statement(suffix: str) -> str:
    """The beginning of a text, up to the next line that begins a statement at the margin."""
    lines = suffix[:AFTER].split("\n")
    end = next((row for row, line in enumerate(lines[1:], 1) if _begins_statement(line)), len(lines))
    return "\n".join([*lines[:end], ""])


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
