"""What stands at a position: code, a comment or a string; and whether the line left of it opens a block.

The text around a cursor is rarely whole. Where the tree says nothing of a string that is not closed yet, the quotes on
the line are counted; whether a line opens a block is asked by giving it a body.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from tree_sitter import Node

from midfill_engine.syntax.source import Source, ancestors, parse, window_around

BEFORE, AFTER = 12_000, 6_000
_STRINGS = ("string", "template_literal", "char_literal", "character_literal", "heredoc", "raw_text_string")
_CODE_IN_STRINGS = frozenset(
    ["interpolation", "template_substitution", "string_interpolation", "interpolated_expression"]
)
_LANGUAGES_WITH_PLAIN_STRINGS = frozenset(["yaml", "toml", "json", "jsonc", "markdown", "html", "xml"])
_WHOLE_STRING = re.compile(r"""\"(?:[^"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`""")
_LINE_COMMENT = re.compile(r"(?:^|\s)(?:#|//|--)")
_OPENING_WORD = re.compile(r"\b(?:then|do|begin)\Z")
_LABEL = re.compile(r"\s*(?:case\b.*|default\s*|public|private|protected):\Z")


class Where(StrEnum):
    """In what a position lies."""

    CODE = "code"
    COMMENT = "comment"
    STRING = "string"


@dataclass(frozen=True, kw_only=True)
class Place:
    """`opens_block`: what stands left of the position on its line wants a body below it."""

    where: Where
    opens_block: bool


def place_at(prefix: str, suffix: str, language: str) -> Place | None:
    """What is known of the place between two texts; None if there is no grammar for the language."""
    text, offset = prefix + suffix, len(prefix)
    source = parse(text, language, window_around(text, offset, BEFORE, AFTER))
    if source is None:
        return None
    line = prefix[prefix.rfind("\n") + 1 :]
    where = _where(source, offset, line, language)
    return Place(where=where, opens_block=where is Where.CODE and _opens_block(source, offset, line))


def _where(source: Source, offset: int, line: str, language: str) -> Where:
    byte = source.byte_of(offset)
    left = source.root.descendant_for_byte_range(max(byte - 1, 0), byte)
    for node in ancestors(left) if left is not None and byte else ():
        if node.type in _CODE_IN_STRINGS and node.end_byte > byte:
            return Where.CODE
        if "comment" in node.type:
            return Where.COMMENT if _is_in_comment(node, byte) else Where.CODE
        if _is_string(node) and node.start_byte < byte < node.end_byte:
            return Where.CODE if language in _LANGUAGES_WITH_PLAIN_STRINGS else Where.STRING
        if node.is_error:
            break
    return Where.STRING if _is_open_string(line, language) else Where.CODE


def _is_in_comment(node: Node, byte: int) -> bool:
    """At the end of a comment that a line end ends one is in it still; behind a closing sign not."""
    text = node.text or b""
    is_closed = text.startswith((b"/*", b"<!--", b"{-", b"(*")) and text.endswith((b"*/", b"-->", b"-}", b"*)"))
    return byte < node.end_byte or not is_closed


def _is_string(node: Node) -> bool:
    return any(word in node.type for word in _STRINGS)


def _is_open_string(line: str, language: str) -> bool:
    """Whether a string has been begun on the line and not ended. An apostrophe alone is no string in Rust or prose."""
    if language in _LANGUAGES_WITH_PLAIN_STRINGS:
        return False
    left = _WHOLE_STRING.sub("", line)
    quotes = '"' if language in ("rust", "haskell", "ocaml") else "\"'"
    return any(quote in left for quote in quotes) and not _LINE_COMMENT.search(left)


def _opens_block(source: Source, offset: int, line: str) -> bool:
    code = line.rstrip()
    if not code.strip():
        return False
    if code[-1] == ":":
        if source.root.type == "module":
            return _opens_in_python(source, offset, line)
        return source.root.type == "stream" or bool(_LABEL.match(code))  # a stream: YAML
    return code[-1] in "{" or code.endswith("=>") or bool(_OPENING_WORD.search(code))


def _opens_in_python(source: Source, offset: int, line: str) -> bool:
    """Whether the colon takes a body: neither that of a dict, a slice, a lambda nor an annotation does."""
    indent = line[: len(line) - len(line.lstrip())]
    probe = f"\n{indent}    midfill_probe()"
    tried = source.spliced(offset, probe)
    inside = tried.node_at(offset + len(probe) - 3, offset + len(probe) - 2)
    for node in ancestors(inside):
        if node.type == "block" and node.parent is not None:
            start = tried.offset_of(node.start_byte)
            return offset < start and not tried.text[offset - tried.start : start - tried.start].strip()
    return False
