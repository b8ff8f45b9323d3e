"""What stands in a terminal, with its colours, as SVG: one frame, or several as an animation that needs no script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import accumulate, pairwise

ESCAPE = re.compile(r"\x1b\[([\d;:]*)m")
CELL, LINE, MARGIN = 8.4, 18, 12
MOST_S = 1.0
FOREGROUND, BACKGROUND = "#e0e2ea", "#14161b"
BASIC = ("#14161b", "#ffc0b9", "#b3f6c0", "#fce094", "#a6dbff", "#ffcaff", "#8cf8f7", "#eef1f8")
CUBE = (0, 95, 135, 175, 215, 255)
NO_BREAK = "\u00a0"  # browsers draw several spaces as one
FONT = "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"


@dataclass(frozen=True, kw_only=True)
class Look:
    """Of a cell."""

    colour: str = FOREGROUND
    ground: str = ""
    is_bold: bool = False
    is_reverse: bool = False


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A screen as `tmux capture-pane -e` gives it, and when it was seen."""

    screen: str
    at_s: float


def still(frame: Frame, columns: int, rows: int) -> str:
    """One screen."""
    return _document(_screen(frame.screen), columns, rows)


def animation(frames: Sequence[Frame], columns: int, rows: int, *, slowdown: float, rest_s: float) -> str:
    """Each frame as long as it was there, times `slowdown`, but not longer than a second; the last for `rest_s`."""
    waits = (min(slowdown * (after.at_s - frame.at_s), MOST_S) for frame, after in pairwise(frames))
    starts = list(accumulate(waits, initial=0.0))
    whole = starts[-1] + rest_s
    groups = []
    for frame, start, end in zip(frames, starts, [*starts[1:], whole], strict=True):
        times = f"0;{start / whole:.4f};{end / whole:.4f}"
        show = f'<animate attributeName="visibility" values="hidden;visible;hidden" keyTimes="{times}"'
        show += f' dur="{whole:.2f}s" calcMode="discrete" repeatCount="indefinite"/>'
        groups.append(f'<g visibility="hidden">{show}{_screen(frame.screen)}</g>')
    return _document("".join(groups), columns, rows)


def _document(inside: str, columns: int, rows: int) -> str:
    width, height = round(columns * CELL + 2 * MARGIN), rows * LINE + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>'
        f'<g font-family="{FONT}" font-size="14">{inside}</g></svg>\n'
    )


def _screen(screen: str) -> str:
    look, rows = Look(), []
    for number, row in enumerate(screen.rstrip("\n").split("\n")):
        runs = list(_runs(row, look))  # how a row ends is how the next one begins
        look = runs[-1][0]
        rows.append(_row(runs, number))
    return "".join(rows)


def _row(runs: Sequence[tuple[Look, str]], number: int) -> str:
    pieces, column = [], 0
    for look, text in runs:
        x, y = MARGIN + column * CELL, MARGIN + number * LINE
        colour, ground = (look.ground or BACKGROUND, look.colour) if look.is_reverse else (look.colour, look.ground)
        if ground and ground != BACKGROUND:
            width = len(text) * CELL
            pieces.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{LINE}" fill="{ground}"/>')
        if text.strip():
            weight = ' font-weight="bold"' if look.is_bold else ""
            length = f'textLength="{len(text) * CELL:.1f}" lengthAdjust="spacingAndGlyphs"'
            shown = escape(text).replace(" ", NO_BREAK)
            pieces.append(f'<text x="{x:.1f}" y="{y + 13}" fill="{colour}"{weight} {length}>{shown}</text>')
        column += len(text)
    return "".join(pieces)


def _runs(row: str, look: Look) -> Iterator[tuple[Look, str]]:
    at = 0
    for match in ESCAPE.finditer(row):
        if match.start() > at:
            yield look, row[at : match.start()]
        look, at = _changed(look, [int(code or 0) for code in re.split("[;:]", match[1])]), match.end()
    yield look, row[at:]


def _changed(look: Look, codes: list[int]) -> Look:
    while codes:
        code = codes.pop(0)
        if code == 0:
            look = Look()
        elif code in (1, 22):
            look = replace(look, is_bold=code == 1)
        elif code in (7, 27):
            look = replace(look, is_reverse=code == 7)
        elif code in (38, 39) or 30 <= code < 38 or 90 <= code < 98:
            look = replace(look, colour=_colour(code, codes) or FOREGROUND)
        elif code in (48, 49) or 40 <= code < 48 or 100 <= code < 108:
            look = replace(look, ground=_colour(code - 10, codes))
    return look


def _colour(code: int, codes: list[int]) -> str:
    if code == 39:
        return ""
    if code != 38:
        return BASIC[code % 10]
    if codes.pop(0) == 2:
        return "#" + "".join(f"{codes.pop(0):02x}" for _ in range(3))
    number = codes.pop(0)
    if number < 16:
        return BASIC[number % 8]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    return "#" + "".join(f"{CUBE[(number - 16) // power % 6]:02x}" for power in (36, 6, 1))
