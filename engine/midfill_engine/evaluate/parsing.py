"""Whether a file parses: Python by its own parser, other languages by a grammar that is on this machine already.

tree-sitter-language-pack fetches grammars over the network when they are first asked for, which an evaluation must
not do: a language whose grammar was never fetched is not judged.
"""

from __future__ import annotations

import ast
import importlib
import warnings
from collections.abc import Callable

Parses = Callable[[str], bool]


def parser_of(language: str) -> Parses | None:
    """Tells whether a file of that language parses; None if nobody here can tell."""
    if language == "python":
        return parses_as_python
    pack = importlib.import_module("tree_sitter_language_pack")
    if language not in pack.downloaded_languages():
        return None
    parser = pack.get_parser(language)
    return lambda text: not parser.parse(text.encode()).root_node.has_error


def parses_as_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
