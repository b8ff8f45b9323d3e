"""How a fill compares to the true middle. Pure functions on text."""

from __future__ import annotations

MIN_ECHO = 8
"""Characters that a fill must repeat of the suffix's beginning to be called an echo."""


def is_exact(fill: str, truth: str) -> bool:
    return fill == truth


def is_exact_but_blanks(fill: str, truth: str) -> bool:
    """Equal but for blanks at the ends of lines, and blank lines at the end."""
    return _without_trailing_blanks(fill) == _without_trailing_blanks(truth)


def is_empty(fill: str) -> bool:
    return not fill.strip()


def edit_similarity(a: str, b: str) -> float:
    """1 less the Levenshtein distance in code points over the longer one's length; 1 for two empty texts."""
    longer = max(len(a), len(b))
    return 1 - edit_distance(a, b) / longer if longer else 1.0


def edit_distance(a: str, b: str) -> int:
    """The Levenshtein distance: fewest insertions, deletions and substitutions of a code point that make `b` of `a`.

    Myers 1999, in Hyyrö's form: the columns of the dynamic programme are kept as bits of integers, which Python has in
    any length. `up` and `down` hold where the distance grows or falls by one from a row to the next.
    """
    if not a or not b:
        return len(a) + len(b)
    places: dict[str, int] = {}
    for at, char in enumerate(a):
        places[char] = places.get(char, 0) | 1 << at
    mask, last = (1 << len(a)) - 1, 1 << (len(a) - 1)
    up, down, distance = mask, 0, len(a)
    for char in b:
        match = places.get(char, 0)
        diagonal = (((match & up) + up) ^ up) | match | down
        right_up, right_down = down | ~(diagonal | up), up & diagonal
        distance += bool(right_up & last) - bool(right_down & last)
        right_up = right_up << 1 | 1
        up = (right_down << 1 | ~(diagonal | right_up)) & mask
        down = right_up & diagonal & mask
    return distance


def echoes_suffix(fill: str, truth: str, suffix: str) -> bool:
    """Whether the fill's end repeats the suffix's beginning, and the true middle does not."""
    return _is_echo(fill, suffix) and not _is_echo(truth, suffix)


def num_repeated(fill: str, suffix: str) -> int:
    """Characters at the fill's end that repeat the suffix's beginning: the longest overlap that is `MIN_ECHO` long
    without the blanks around it; else 0."""
    for length in range(min(len(fill), len(suffix)), MIN_ECHO - 1, -1):
        if fill.endswith(suffix[:length]):
            return length if len(suffix[:length].strip()) >= MIN_ECHO else 0
    return 0


def _is_echo(fill: str, suffix: str) -> bool:
    return num_repeated(fill, suffix) > 0 or _repeats_line(fill, suffix)


def _repeats_line(fill: str, suffix: str) -> bool:
    """The fill's last line is the suffix's first whole line (blanks around both aside).

    A suffix that goes on in the fill's own line has no whole line there.
    """
    said, there = fill.strip().split("\n"), suffix.strip().split("\n")
    is_whole = fill.endswith("\n") or suffix.lstrip(" \t").startswith("\n")
    return is_whole and bool(there[0].strip()) and said[-1].strip() == there[0].strip()


def _without_trailing_blanks(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")
