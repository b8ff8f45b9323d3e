"""From the text of a finished row to a text worth offering, or to nothing."""

from __future__ import annotations

import re

from midfill_engine.api import Mode
from midfill_engine.echo import trim_above_echo, trim_before_echo, trim_below_echo, trim_line_echo
from midfill_engine.indent import fit_indent
from midfill_engine.shape import lines_after, lines_before, splits_line_end

# What no programmer types: control characters, other line ends than LSP's, marks that turn the direction of text.
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_GOES_ON_LINE = tuple(",;:)]}")  # right of a hole, these want no line end before them


def read_out(text: str, mode: Mode, prefix: str, suffix: str) -> str:
    """The offer that `text` makes in its hole, cleaned of what does not belong there; empty where nothing is left.

    `LINE` stops before the line's end. A text that only repeats what stands there already is nothing.
    """
    if splits_line_end(prefix, suffix):
        return ""
    text = _UNWANTED.split(text.replace("\r\n", "\n").replace("\r", "\n"), maxsplit=1)[0]
    if mode is Mode.LINE:
        text = text.split("\n", 1)[0]
    *above, before = lines_before(prefix)
    after, *below = lines_after(suffix)
    text = _without_echo(text, before, after, above, below)
    text = _without_trailing_blanks(text, before, after)
    text = fit_indent(text, before, above, [after, *below])
    return "" if not text.strip() or _is_there_already(text, after, below) else text


def _without_echo(text: str, before: str, after: str, above: list[str], below: list[str]) -> str:
    """`text` without what stands around its hole: whole lines first, then parts of the hole's own line."""
    text = trim_above_echo(text, before, above)
    text = trim_below_echo(text, before, after, below)
    first, newline, rest = text.partition("\n")
    text = trim_before_echo(first, before, "" if newline else after) + newline + rest
    head, newline, last = text.rpartition("\n")
    if newline:
        return head + newline + trim_line_echo(last, "", after, [*above, *(before + head).split("\n")])
    return trim_line_echo(last, before, after, above)


def _without_trailing_blanks(text: str, before: str, after: str) -> str:
    """Blanks go where the line ends or goes on with a blank; a line end goes where the line goes on behind it."""
    if not after.strip():
        return text.rstrip()
    line, newline, rest = text.partition("\n")
    if newline and not rest.strip() and before.strip() and after.lstrip().startswith(_GOES_ON_LINE):
        text = line
    return text.rstrip(" \t") if after[0] in " \t" and text.strip() else text


def _is_there_already(text: str, after: str, below: list[str]) -> bool:
    """The offer says no more than the lines right behind the hole."""
    return "\n" in text and "\n".join([after, *below]).lstrip().startswith(text.strip())
