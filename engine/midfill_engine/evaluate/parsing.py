"""Whether a file parses: Python by its own parser, other languages by their grammar."""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Parser

from midfill_engine.syntax.grammars import grammar
from midfill_engine.syntax.strict import parses_as_python

Parses = Callable[[str], bool]


def parser_of(language: str) -> Parses | None:
    """Tells whether a file of that language parses; None if nobody here can tell."""
    if language == "python":
        return parses_as_python
    known = grammar(language)
    if known is None:
        return None
    parser = Parser(known)
    return lambda text: not parser.parse(text.encode()).root_node.has_error
