"""What kind of middle a hole asks for, from the text around it alone."""

from __future__ import annotations

import re

from midfill_engine.api import Mode

_LINE_END = re.compile(r"\r\n|\r|\n")
_OPENERS = (":", "{", "(", "[", "=>", "then", "do")


def line_before(prefix: str) -> str:
    """The part of the hole's line that is left of it."""
    return _LINE_END.split(prefix[-4096:])[-1]


def line_after(suffix: str) -> str:
    """The part of the hole's line that is right of it."""
    return _LINE_END.split(suffix[:4096])[0]


def resolve_mode(mode: Mode, prefix: str, suffix: str) -> Mode:
    """`LINE` or `BLOCK`. `AUTO` asks for a block on a blank line and after a line that opens one, else for a line."""
    if mode is not Mode.AUTO:
        return mode
    if line_after(suffix).strip():
        return Mode.LINE
    left = line_before(prefix).strip()
    return Mode.BLOCK if not left or left.endswith(_OPENERS) else Mode.LINE
