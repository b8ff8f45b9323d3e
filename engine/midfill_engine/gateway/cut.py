"""Where a middle ends for the plugin that asked: at its stop strings, and where its block does."""

from __future__ import annotations

import re

_LINES = re.compile(r"(?<=\n)")


def cut_at(text: str, stop: tuple[str, ...]) -> tuple[str, str]:
    """`text` up to the first of the stop strings, and which one that was (none: empty)."""
    places = [(at, word) for word in stop if (at := text.find(word)) >= 0]
    if not places:
        return text, ""
    at, word = min(places)
    return text[:at], word


def within_indent(text: str, num_blanks: int) -> str:
    """`text` up to the first further line that stands less deep: llama.cpp's `n_indent`. Blank lines stand anywhere."""
    first, *rest = _LINES.split(text)
    kept = [first]
    for line in rest:
        if line.strip() and len(line) - len(line.lstrip(" \t")) < num_blanks:
            return "".join(kept).rstrip("\n")
        kept.append(line)
    return text
