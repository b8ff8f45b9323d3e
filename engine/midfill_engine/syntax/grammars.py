"""From a language id of the language server protocol to a tree-sitter grammar.

The grammars come in the wheel of tree-sitter-language-pack; nothing is ever fetched. One is loaded when its language is
first asked for, in under a millisecond. An unknown language has none, and whoever asks falls back to rules about text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tree_sitter import Language

OTHER_NAMES: Mapping[str, str] = {
    "javascriptreact": "javascript",
    "jsonc": "json",
    "latex": "latex",
    "makefile": "make",
    "objective-c": "objc",
    "shellscript": "bash",
    "typescriptreact": "tsx",
}
_NAMES = """
    bash c clojure cmake cpp csharp css dart dockerfile elixir elm erlang fish go graphql groovy haskell hcl html java
    javascript json julia kotlin lua make markdown nix objc ocaml perl php powershell python r ruby rust scala scss sql
    svelte swift toml tsx typescript vue xml yaml zig
"""
SAME_NAMES = frozenset(_NAMES.split())
"""Grammars whose name is the language's id."""


def grammar_name(language: str) -> str | None:
    """The grammar for a language id; None if there is none."""
    name = OTHER_NAMES.get(language, language)
    return name if name in SAME_NAMES or language in OTHER_NAMES else None


@cache
def grammar(language: str) -> Language | None:
    """The loaded grammar; None for a language that is not known or not in this build of the pack."""
    name = grammar_name(language)
    if name is None:
        return None
    from tree_sitter_language_pack import get_language

    try:
        return get_language(name)  # type: ignore[arg-type]
    except LookupError:
        return None
