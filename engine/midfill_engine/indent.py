"""How a middle is indented in the file it goes into."""

from __future__ import annotations

import re

_LEAD = re.compile(r"[ \t]*")
_OPENS = re.compile(r"[:{(\[]\s*\Z")
_TAB_WIDTH = 4


def fit_indent(text: str, before: str, above: list[str], below: list[str]) -> str:
    """`text` in the file's own unit, without indentation that the hole's line has already.

    `before`: the hole's line left of it; `above`, `below`: lines around it. Only blanks at line beginnings change.
    """
    unit = unit_of([*above, *below])
    first, *rest = text.split("\n")
    rest = in_unit(rest, unit)
    if before and not before.strip():
        [first] = in_unit([first], unit)
        return "\n".join(_without_extra(first, rest, before, _expected(above, unit)))
    return "\n".join([first, *rest])


def unit_of(lines: list[str]) -> str:
    """One level of indentation: a tab where lines begin with tabs only, else the smallest step of blanks, or four."""
    leads = [lead(line) for line in lines if line.strip()]
    if any(piece.startswith("\t") for piece in leads) and not any(piece.startswith("  ") for piece in leads):
        return "\t"
    return " " * min((len(piece) for piece in leads if len(piece) > 1 and "\t" not in piece), default=_TAB_WIDTH)


def in_unit(lines: list[str], unit: str) -> list[str]:
    """Lines indented by the other kind of blanks get the file's."""
    if unit != "\t":
        return [lead(line).replace("\t", unit) + line[len(lead(line)) :] for line in lines]
    step = len(unit_of(lines).replace("\t", " " * _TAB_WIDTH))
    return [lead(line).replace(" " * step, "\t") + line[len(lead(line)) :] for line in lines]


def lead(line: str) -> str:
    """The blanks a line begins with."""
    match = _LEAD.match(line)
    return match[0] if match else ""


def _expected(above: list[str], unit: str) -> int:
    """How deep the hole's line should stand, in columns: as the line above, one deeper where that opens a block."""
    last = next((line for line in reversed(above) if line.strip()), "")
    return _width(lead(last)) + (_width(unit) if _OPENS.search(last) else 0)


def _without_extra(first: str, rest: list[str], before: str, expected: int) -> list[str]:
    """Lines less what `first` is indented too deep, if the hole stands deep enough already."""
    extra = lead(first)
    if not extra or _width(before) < expected:
        return [first, *rest]
    inner = [lead(line) for line in rest if line.strip()]
    is_all_too_deep = all(blanks.startswith(before + extra) for blanks in inner)
    if inner and _OPENS.search(first):  # what it opens stands deeper than it does itself
        is_all_too_deep &= inner[0] != before + extra
    shifted = [line.replace(before + extra, before, 1) if line.strip() else line for line in rest]
    return [first[len(extra) :], *(shifted if is_all_too_deep else rest)]


def _width(blanks: str) -> int:
    return len(blanks.expandtabs(_TAB_WIDTH))
