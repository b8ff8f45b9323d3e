"""What the encoder reads before the prefix: other files, what comes further below, the file's imports, the signatures
that the cursor is under, and what the user wants.

    [bos] snippets · far suffix · imports and signatures · selection and instruction [file] prefix ...

Everything here stands still while somebody types on a line: what is encoded is then only appended to. So the far suffix
begins at a line that is chosen by what it says and not by its distance from the cursor, and scopes are looked for
in the text without the line of the cursor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

from midfill_engine.api import Snippet
from midfill_engine.syntax.scope import Scope, enclosing
from midfill_engine.tokens import TokenCodec

_ONE_OF = 4  # lines, on average, may be where a far suffix begins
_MOST_SKIPPED = 32  # lines
_LINES_WITH_IMPORTS = 400
_LONGEST_IMPORT = 40  # lines
_CHARS_PER_TOKEN = 8  # more than a token has: what is cut to so many characters is not tokenised for nothing
_IMPORT = re.compile(r"(?:import|from|use|using|package|require|extern crate|#\s*include|@import|\w+ = require)\b")
_SCRIPTS = frozenset(["javascript", "javascriptreact", "typescript", "typescriptreact", "dart", "php"])
_SLASHES = _SCRIPTS | {"c", "cpp", "csharp", "go", "java", "kotlin", "rust", "scala", "swift"}
_DASHES = frozenset(["lua", "sql", "haskell", "elm"])


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a request says besides the text around the hole."""

    language: str = ""
    snippets: tuple[Snippet, ...] = ()
    selection: str = ""
    instruction: str = ""


def comment(text: str, language: str) -> str:
    """Each line of a text as a comment of the language."""
    mark = "//" if language in _SLASHES else "--" if language in _DASHES else "#"
    return "".join(f"{mark} {line}".rstrip() + "\n" for line in text.split("\n"))


def snippet_ids(surroundings: Surroundings, budget: int, codec: TokenCodec) -> list[int]:
    """The snippets, each behind its path, as many as the budget holds whole; the last perhaps in part."""
    ids: list[int] = []
    for snippet in surroundings.snippets:
        room = budget - len(ids)
        if room <= 0:
            break
        text = comment(snippet.path, surroundings.language) + _ended(snippet.text)
        ids += _whole_lines(text, room, codec)
    return ids


def far_suffix_ids(suffix: str, num_near: int, budget: int, language: str, codec: TokenCodec) -> list[int]:
    """What comes behind the first `num_near` characters of the suffix, from a landmark on."""
    start = _landmark(suffix, num_near)
    text = suffix[start : start + budget * _CHARS_PER_TOKEN]
    if not budget or not text.strip():
        return []
    return _whole_lines(comment("further below:", language) + _ended(text), budget, codec)


def head_ids(prefix: str, suffix: str, cut: int, budget: int, language: str, codec: TokenCodec) -> list[int]:
    """Imports, and signatures of what the cursor is in, that stand before `cut` and so out of sight; signatures have
    half of the budget, or what imports leave."""
    signatures = codec.ids("".join(_signatures(prefix, suffix, cut, language)))
    if len(signatures) > budget:
        signatures = []
    room = budget - min(len(signatures), budget)
    return _whole_lines("".join(_imports(prefix[:cut])), room, codec) + signatures


def wish_ids(surroundings: Surroundings, budget: int, codec: TokenCodec) -> list[int]:
    """What stood in the hole, and what is wanted instead."""
    if not surroundings.instruction and not surroundings.selection:
        return []
    language, wish = surroundings.language, surroundings.instruction
    wanted = codec.ids(comment(f"To do here: {wish}", language))[:budget] if wish else []
    old = surroundings.selection[: budget * _CHARS_PER_TOKEN]
    text = comment("Replace this:", language) + _ended(old) if old else ""
    return _whole_lines(text, budget - len(wanted), codec) + wanted


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _whole_lines(text: str, budget: int, codec: TokenCodec) -> list[int]:
    """The first lines of a text that fit."""
    text = text[: max(0, budget) * _CHARS_PER_TOKEN]
    ids = codec.ids(text)
    while len(ids) > budget or (text and not text.endswith("\n")):
        share = min(1.0, budget / max(1, len(ids)))
        text = text[: text.rfind("\n", 0, max(0, int(len(text) * share) - 1)) + 1]
        ids = codec.ids(text)
    return ids


def _landmark(suffix: str, at_least: int) -> int:
    """The first line start from there on whose line says that it is one: it stays where it is as the cursor comes
    nearer. The nearest line start where there is none for long."""
    nearest = at = suffix.find("\n", max(0, at_least - 1)) + 1
    for _ in range(_MOST_SKIPPED if nearest else 0):
        end = suffix.find("\n", at)
        if end < 0:
            break
        line = suffix[at:end]
        if line.strip() and crc32(line.encode("utf-8", "replace")) % _ONE_OF == 0:
            return at
        at = end + 1
    return nearest or len(suffix)


def _imports(text: str) -> Iterator[str]:
    """The import statements at the beginning of lines, those in brackets to their ends."""
    lines = iter(text.split("\n", _LINES_WITH_IMPORTS)[:_LINES_WITH_IMPORTS])
    for line in lines:
        if _IMPORT.match(line):
            yield from (f"{part}\n" for part in _statement(line, lines))


def _statement(first: str, rest: Iterable[str]) -> Sequence[str]:
    found = [first]
    depth = _depth(first)
    for line in rest if depth > 0 else ():
        found.append(line)
        depth += _depth(line)
        if depth <= 0 or len(found) >= _LONGEST_IMPORT:
            break
    return found


def _depth(line: str) -> int:
    return sum(map(line.count, "({[")) - sum(map(line.count, ")}]"))


def _signatures(prefix: str, suffix: str, cut: int, language: str) -> Iterator[str]:
    """Of what the line of the cursor is in, the outermost first. A line that is still empty goes on as the last."""
    line_start = prefix.rfind("\n") + 1
    line = prefix[line_start:]
    indent = _indent(line if line.strip() else prefix[:line_start].rstrip().rpartition("\n")[2])
    line_end = suffix.find("\n")
    text = f"{prefix[:line_start]}{indent}_{suffix[line_end:] if line_end >= 0 else ''}"
    for scope in reversed(enclosing(text, line_start + len(indent), language)):
        if scope.body <= cut:
            yield _signature(text, scope)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _signature(text: str, scope: Scope) -> str:
    start = text.rfind("\n", 0, scope.start) + 1
    return text[start : scope.body].rstrip() + "\n"
