"""What kind of middle a hole asks for, from the text around it alone. Lines end at \\n, \\r\\n and \\r only."""

from __future__ import annotations

import re

from midfill_engine.api import Mode

_LINE_END = re.compile(r"\r\n|\r|\n")
_OPENS_BLOCK = re.compile(r"(?:[:{(\[]|=>|\b(?:then|do))\Z")
_REACH = 4096  # code points of a text that are looked at: what stands further away than that does not count


def line_before(prefix: str) -> str:
    """The part of the hole's line that is left of it."""
    return lines_before(prefix)[-1]


def line_after(suffix: str) -> str:
    """The part of the hole's line that is right of it."""
    return lines_after(suffix)[0]


def lines_before(prefix: str) -> list[str]:
    """The lines near the hole that end before it; the last is the hole's own."""
    return _LINE_END.split(prefix[-_REACH:])


def lines_after(suffix: str) -> list[str]:
    """The lines near the hole that begin behind it; the first is the rest of the hole's own."""
    return _LINE_END.split(suffix[:_REACH])


def splits_line_end(prefix: str, suffix: str) -> bool:
    """The hole lies between \\r and \\n: whatever is put there tears a line end in two."""
    return prefix.endswith("\r") and suffix.startswith("\n")


def resolve_mode(mode: Mode, prefix: str, suffix: str) -> Mode:
    """`LINE` or `BLOCK`. `AUTO` asks for a block on a blank line and after a line that opens one, else for a line."""
    if mode is not Mode.AUTO:
        return mode
    if line_after(suffix).strip():
        return Mode.LINE
    left = line_before(prefix).strip()
    return Mode.BLOCK if not left or _OPENS_BLOCK.search(left) else Mode.LINE
