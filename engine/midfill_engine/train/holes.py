"""Where a hole is cut: what an editor would ask for at a place in a file. Pure text, no tokens but their offsets.

A hole is a range of characters [begin, end) of a window's text: the middle. `propose` draws one of a kind, or None
where the place drawn does not suit the kind; the caller draws again.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from midfill_engine.train.windows import Window

MAX_MIDDLE = 260  # characters
PROSE_KEPT = 0.1  # share of the places in docstrings and comments that are kept
CLOSERS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, kw_only=True)
class HoleMix:
    """How often each kind of hole is cut; weights, not shares."""

    rest_of_line: float = 0.44
    whole_lines: float = 0.26
    bracket: float = 0.08
    span: float = 0.14
    empty: float = 0.08

    def __post_init__(self) -> None:
        weights = vars(self)
        if min(weights.values()) < 0 or sum(weights.values()) <= 0:
            raise ValueError(f"a mix of holes needs weights of 0 and above, one above 0, not {weights}")


@dataclass(frozen=True, kw_only=True)
class Hole:
    """A middle: characters [begin, end) of the window's text."""

    kind: str
    begin: int
    end: int


@dataclass(frozen=True, kw_only=True)
class _Line:
    begin: int
    indent_end: int  # first character that is no blank
    end: int  # of the line, without its line break


def propose(window: Window, mix: HoleMix, rng: random.Random) -> Hole | None:
    """One hole inside the window, or None where this draw came to nothing."""
    kinds: dict[str, Callable[[Window, random.Random], tuple[int, int] | None]] = {
        "rest_of_line": _rest_of_line,
        "whole_lines": _whole_lines,
        "bracket": _bracket,
        "span": _span,
        "empty": _empty,
    }
    kind = rng.choices(list(kinds), [getattr(mix, name) for name in kinds])[0]
    found = kinds[kind](window, rng)
    if found is None or found[1] - found[0] > MAX_MIDDLE:
        return None
    if window.is_prose(found[0]) and rng.random() > PROSE_KEPT:
        return None
    return Hole(kind=kind, begin=found[0], end=found[1])


def _line(window: Window, rng: random.Random) -> _Line | None:
    """A line that is not blank, wholly inside the window."""
    low, high = int(window.starts[0]), int(window.starts[-1])
    text, at = window.text, rng.randrange(low, high + 1)
    begin = text.rfind("\n", 0, at) + 1
    end = _line_end(text, at)
    line = text[begin:end]
    if begin < low or end > high or not line.strip():
        return None
    return _Line(begin=begin, indent_end=begin + len(line) - len(line.lstrip()), end=end)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _rest_of_line(window: Window, rng: random.Random) -> tuple[int, int] | None:
    line = _line(window, rng)
    if line is None:
        return None
    begin = rng.randrange(line.indent_end, line.end)
    if rng.random() < 0.75:  # at the start of a token; else anywhere, inside a token too
        begin = max(_token_start(window, begin), line.indent_end)
    return begin, line.end


def _whole_lines(window: Window, rng: random.Random) -> tuple[int, int] | None:
    line = _line(window, rng)
    if line is None:
        return None
    end = line.end
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        if end < len(window.text):
            end = _line_end(window.text, end + 1)
    if end > int(window.starts[-1]):
        return None
    return (line.indent_end if rng.random() < 0.8 else line.begin), end


def _bracket(window: Window, rng: random.Random) -> tuple[int, int] | None:
    """What stands between a bracket and its partner: an argument list, a subscript, a display."""
    low, high = int(window.starts[0]), int(window.starts[-1])
    at = rng.randrange(low, high + 1)
    openings = [place for mark in CLOSERS if (place := window.text.find(mark, at, at + MAX_MIDDLE)) >= 0]
    if not openings:
        return None
    opening = min(openings)
    closing = _partner(window.text, opening, min(high, opening + MAX_MIDDLE))
    return None if closing is None else (opening + 1, closing)


def _partner(text: str, opening: int, limit: int) -> int | None:
    opener, closer = text[opening], CLOSERS[text[opening]]
    depth = 0
    for place in range(opening, limit):
        depth += (text[place] == opener) - (text[place] == closer)
        if depth == 0:
            return place
    return None


def _span(window: Window, rng: random.Random) -> tuple[int, int] | None:
    first = rng.randrange(len(window.starts))
    length = rng.randint(1, 3) if rng.random() < 0.5 else min(1 + int(rng.expovariate(1 / 8)), 32)
    if first + length >= len(window.starts):
        return None
    return int(window.starts[first]), int(window.starts[first + length])


def _empty(window: Window, rng: random.Random) -> tuple[int, int] | None:
    """Nothing is missing: at the end of a line, or between two tokens."""
    if rng.random() < 0.4:
        at = int(window.starts[rng.randrange(len(window.starts))])
        return at, at
    line = _line(window, rng)
    return None if line is None else (line.end, line.end)


def _token_start(window: Window, offset: int) -> int:
    """The start of the token that holds a character."""
    index = int(window.starts.searchsorted(offset, "right")) - 1
    return int(window.starts[max(index, 0)])
