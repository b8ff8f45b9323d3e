"""What is around the cursor, frozen at the moment of a request.

Everything after the first await works on this and never looks at the document again but to see whether it has moved on.
The texts are for the model: bounded, line ends all \\n (a model is not asked about \\r, and nothing of its answer is
mapped back to a column, so no position is affected), lone surrogates replaced. The bounds move in blocks, so that while
somebody types the prefix keeps its beginning and the engine its cache.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from midfill_server.documents import Document
from midfill_server.positions import Encoding, locate, without_eol

PREFIX_LIMIT = 64_000
SUFFIX_LIMIT = 16_000
BLOCK_LINES = 64
BLOCK_COLUMNS = 4_096
LINE_END = re.compile(r"\r\n?")
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A cursor in a text. `row` and `column` are in the document, `line` is its line without the end.

    `is_suffix_cut`: the document goes on after the suffix.
    """

    uri: str
    version: int | None
    language: str
    row: int
    column: int
    line: str
    prefix: str
    suffix: str
    is_suffix_cut: bool


def take(document: Document, line: int, character: int, encoding: Encoding) -> Snapshot:
    """Freeze what is around a client's position."""
    row, column = locate(document.lines, line, character, encoding)
    lines, above = _whole(document)
    suffix = _suffix(lines, above + row, column)
    return Snapshot(
        uri=document.uri,
        version=document.version,
        language=document.language,
        row=row,
        column=column,
        line=without_eol(document.lines[row]),
        prefix=for_model(_prefix(lines, above + row, column)),
        suffix=for_model(suffix),
        is_suffix_cut=len(suffix) == SUFFIX_LIMIT,
    )


def _whole(document: Document) -> tuple[list[str], int]:
    """The lines of the text that the document is, or is part of, and how many of them are above its own."""
    before, after = document.around(document)
    if not before and not after:
        return document.lines, 0
    own = document.lines if not after else [*document.lines[:-1], document.lines[-1] + "\n"]
    return [*before, *own, *after], len(before)


def _prefix(lines: list[str], row: int, column: int) -> str:
    head = lines[row][:column]
    if len(head) > PREFIX_LIMIT:
        return head[_in_blocks(len(head) - PREFIX_LIMIT, BLOCK_COLUMNS) :]
    first, size = row, len(head)
    while first > 0 and size + len(lines[first - 1]) <= PREFIX_LIMIT:
        first -= 1
        size += len(lines[first])
    first = min(_in_blocks(first, BLOCK_LINES), row)
    return "".join(lines[first:row]) + head


def _suffix(lines: list[str], row: int, column: int) -> str:
    pieces = [lines[row][column : column + SUFFIX_LIMIT]]
    size = len(pieces[0])
    while size < SUFFIX_LIMIT and row + 1 < len(lines):
        row += 1
        pieces.append(lines[row][: SUFFIX_LIMIT - size])
        size += len(pieces[-1])
    return "".join(pieces)


def _in_blocks(amount: int, block: int) -> int:
    """The next multiple of a block."""
    return -(-amount // block) * block


def for_model(text: str) -> str:
    """A text as a model reads it."""
    return LONE_SURROGATE.sub("\ufffd", LINE_END.sub("\n", text))
