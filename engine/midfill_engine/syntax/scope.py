"""What a position is in: functions and classes with their signatures; and where what stands there ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tree_sitter import Node

from midfill_engine.syntax.source import Source, ancestors, parse, window_around

_FUNCTION = re.compile(r"(?:function|method|constructor|subroutine)(?:_\w+)?\Z|local_function_statement\Z")
_CLASS = re.compile(r"(?:class|struct|trait|impl|interface|enum|module|object|protocol)_\w+\Z|(?:class|module)\Z")
_NO_SCOPES = frozenset(["class_body", "function_type", "method_invocation", "function_body", "struct_expression"])
_NAMES = ("name", "declarator", "type")
"""The fields that may hold a name: C's declarator, Rust's type of an `impl`."""
_BLOCKS = re.compile(r"(?:\w*block|compound_statement|\w*_body|declaration_list|statement_list|statements)\Z")


class ScopeKind(StrEnum):
    """What has a body of its own. `type`: a class, struct, trait, interface or the like."""

    FUNCTION = "function"
    TYPE = "type"


@dataclass(frozen=True, kw_only=True)
class Scope:
    """From `start` to `end`, in code points; the signature is what stands before `body`."""

    kind: ScopeKind
    name: str
    start: int
    body: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Extent:
    """Where the statement at a position ends, and the block that it is in."""

    statement_end: int
    block_end: int


def enclosing(text: str, offset: int, language: str) -> tuple[Scope, ...]:
    """The scopes whose body or signature the offset is in, the innermost first; none for an unknown language."""
    source = parse(text, language, window_around(text, offset))
    return () if source is None else tuple(_scopes(source, source.node_at(offset, offset)))


def extent_at(text: str, offset: int, language: str) -> Extent | None:
    """None if there is no grammar for the language."""
    source = parse(text, language, window_around(text, offset))
    if source is None:
        return None
    path = list(ancestors(source.node_at(offset, offset)))
    at = next((index for index, node in enumerate(path) if _BLOCKS.match(node.type)), len(path) - 1)
    statement = path[max(at - 1, 0)]
    return Extent(
        statement_end=source.offset_of(statement.end_byte) if at else offset,
        block_end=source.offset_of(path[at].end_byte),
    )


def _scopes(source: Source, node: Node) -> Iterator[Scope]:
    for outer in ancestors(node):
        kind, body = _kind(outer), outer.child_by_field_name("body")
        if kind is not None and body is not None:
            name = next(filter(None, map(outer.child_by_field_name, _NAMES)), None)
            yield Scope(
                kind=kind,
                name="" if name is None else (name.text or b"").decode(errors="replace"),
                start=source.offset_of(outer.start_byte),
                body=source.offset_of(body.start_byte),
                end=source.offset_of(outer.end_byte),
            )


def _kind(node: Node) -> ScopeKind | None:
    if node.type in _NO_SCOPES or not node.is_named:
        return None
    if _FUNCTION.match(node.type):
        return ScopeKind.FUNCTION
    return ScopeKind.TYPE if _CLASS.match(node.type) else None
