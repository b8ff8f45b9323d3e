"""Brackets and quotes that have no partner, in code of any language.

Rough on purpose: a text is read from the left without knowing its grammar. What matters is the difference between two
readings of nearly the same text, so that what is misread on both sides does no harm.
"""

from __future__ import annotations

import re

_PAIRS = {")": "(", "]": "[", "}": "{"}
_TOKEN = re.compile(
    r"""
      (?P<string> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | `(?:[^`\\\n]|\\.)*` )
    | (?P<comment> (?:(?<=\s)|^)\#\s.*$ | ^\s*//.*$ )
    | (?P<quote> ["'`] )
    | (?P<bracket> [()\[\]{}] )
    """,
    re.VERBOSE | re.MULTILINE,
)


def num_faults(code: str) -> int:
    """Closing brackets without an opening one, and quotes without a partner on their line (an apostrophe in prose is
    one too). An opening bracket may stay open."""
    faults = 0
    opened: list[str] = []
    for token in _TOKEN.finditer(code):
        text = token[0]
        if token.lastgroup == "quote":
            faults += 1
        elif text in _PAIRS.values():
            opened.append(text)
        elif text in _PAIRS:
            if opened and opened[-1] == _PAIRS[text]:
                opened.pop()
            else:
                faults += 1
    return faults
