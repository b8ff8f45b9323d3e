"""Rows of a table with pipes: as many cells as the table has columns, and aligned where the others are.

A table is known by its delimiter row, wherever it stands: in Markdown or in a docstring. Nothing of a cell is invented
or changed; cells too many are cut, those that lack stay empty, and space is put before a pipe so that it stands under
the one above. What is left of the cursor stays as it is. The delimiter row itself, below a head that has none yet, gets
as many cells as the head has.
"""

from __future__ import annotations

import re
from itertools import takewhile

from midfill_server.postprocess.site import Site

DELIMITER = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*\Z")
DELIMITER_BEGUN = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)*\s*:?-*:?\s*\Z")
PIPE = re.compile(r"(?<!\\)\|")


def rows_of_table(text: str, site: Site) -> str:
    """The middle with its rows fitted to the table that it goes on with."""
    is_above_a_row = not site.before.strip() and is_row(site.after)
    if is_above_a_row or not is_row(site.before + text):
        return text
    table = _table_above(site)
    delimiter = next((row for row in table if DELIMITER.match(row)), None)
    if delimiter is None:
        return _delimiter_of(table, text, site) if len(table) == 1 else text
    num_pipes, stops = len(pipes_of(delimiter)), _stops([*table, *takewhile(is_row, site.following)])
    first, *others = text.split("\n")
    fitted = [_fitted(site.before, first, site.after, num_pipes, stops)]
    rows = list(takewhile(is_row, others))
    return "\n".join([*fitted, *(_fitted("", row, "", num_pipes, stops) for row in rows), *others[len(rows) :]])


def num_blanks_for(text: str, site: Site) -> int:
    """How many blanks of the cell behind the cursor make way for a text, so that its pipe stays in place."""
    blanks = len(site.after) - len(site.after.lstrip(" "))
    is_in_cell = is_row(site.before) and site.after[blanks : blanks + 1] == "|" and "\n" not in text
    return min(len(text), max(blanks - 1, 0)) if is_in_cell else 0


def _delimiter_of(head: list[str], text: str, site: Site) -> str:
    """The middle with a cell for each of the head's, if its first line is the row that makes a table of it."""
    first, newline, others = text.partition("\n")
    row = (site.before + first).rstrip()
    is_delimiter = "-" in row and DELIMITER_BEGUN.match(row) is not None
    has_delimiter = any(DELIMITER.match(line) for line in site.following[:1])
    num_cells = num_cells_of(head[0])
    if not is_delimiter or has_delimiter or site.after.strip() or num_cells_of(row) == num_cells:
        return text
    cells = PIPE.split(row.strip())[1:]
    cells = [cell for cell in cells if "-" in cell][:num_cells]
    plain = cells[-1].replace(":", "-")
    indent = row[: len(row) - len(row.lstrip())]
    fitted = indent + "|" + "".join(f"{cell}|" for cell in [*cells, *[plain] * (num_cells - len(cells))])
    return fitted[len(site.before) :] + newline + others if fitted.startswith(site.before) else text


def _table_above(site: Site) -> list[str]:
    """The rows right above the cursor's line."""
    lines = site.prefix.split("\n")[:-1]
    return list(takewhile(is_row, reversed(lines)))


def is_row(line: str) -> bool:
    """Whether a line is a row of a table, or the beginning of one."""
    return line.lstrip().startswith("|")


def pipes_of(line: str) -> list[int]:
    """Where the pipes of a row stand that are no text."""
    return [match.start() for match in PIPE.finditer(line)]


def num_cells_of(line: str) -> int:
    """How many cells a row has; its last pipe may lack."""
    return len(pipes_of(line)) - line.rstrip().endswith("|")


def _stops(table: list[str]) -> list[int]:
    """Where the pipes stand; nothing if they do not stand under one another."""
    places = [pipes_of(row) for row in table]
    return places[0] if all(each == places[0] for each in places) else []


def _fitted(before: str, middle: str, after: str, num_pipes: int, stops: list[int]) -> str:
    missing = num_pipes - len(pipes_of(before)) - len(pipes_of(after))
    pipes = pipes_of(middle)
    if len(pipes) > max(missing, 0):
        middle = middle[: pipes[missing] if missing <= 0 or after.strip() else pipes[missing - 1] + 1].rstrip()
    elif not after.strip() and len(pipes) < missing:
        middle = middle.rstrip() + " |" * (missing - len(pipes))
    return middle if after.strip() else _aligned(before, middle, stops)


def _aligned(before: str, middle: str, stops: list[int]) -> str:
    """Space before each pipe of the middle that comes too early."""
    done, num_before = "", len(pipes_of(before))
    for index, piece in enumerate(PIPE.split(middle)[:-1]):
        at = len(before) + len(done) + len(piece)
        stop = stops[num_before + index] if num_before + index < len(stops) else at
        done += piece + " " * max(0, stop - at) + "|"
    return done + PIPE.split(middle)[-1]
