"""From the tokens of a finished row to a text worth offering, or to nothing."""

from __future__ import annotations

from midfill_engine.api import Mode
from midfill_engine.echo import trim_line_echo, trim_lines_echo
from midfill_engine.shape import line_after, line_before


def read_out(text: str, mode: Mode, prefix: str, suffix: str) -> str:
    """The offer that `text` makes in its hole, cleaned of what does not belong there; empty where nothing is left.

    `LINE` stops before the line's end. Trailing blanks go where the line ends or the text goes on with the same blanks.
    A text that only repeats what stands there already is nothing.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if mode is Mode.LINE:
        text = text.split("\n", 1)[0]
    after = line_after(suffix)
    before = line_before(prefix)
    if "\n" in text or not after.strip():
        text = trim_lines_echo(text, suffix if not after.strip() else after + "\n")
    last_before = before if "\n" not in text else ""
    head, newline, last = text.rpartition("\n")
    text = head + newline + trim_line_echo(last, last_before, after)
    if not after.strip():
        text = text.rstrip()
    return "" if not text.strip() or _is_there_already(text, suffix) else text


def _is_there_already(text: str, suffix: str) -> bool:
    """The offer says no more than the text right behind the hole."""
    said = text.strip()
    return "\n" in text and suffix.lstrip().startswith(said) and bool(said)
