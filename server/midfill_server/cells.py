"""How the other cells of a notebook are shown to a model that fills in one of them.

Code of the same language stands as it is; what could not be read as that language stands as a comment: prose, code of
other languages, and the commands of a notebook's kernel. In a cell of prose, prose stands as it is and code in fences.
"""

from __future__ import annotations

from collections.abc import Mapping

MARKDOWN = "markdown"
PYTHON = "python"
KERNEL_SIGNS = ("%", "!")

_BY_SIGN = {
    "# ": "coffeescript elixir julia nix perl powershell python r ruby shellscript tcl yaml",
    "// ": "c cpp csharp dart fsharp go groovy java javascript javascriptreact kotlin objective-c php rust scala swift "
    "typescript typescriptreact zig",
    "-- ": "ada elm haskell lua sql",
    "% ": "erlang latex matlab prolog",
    ";; ": "clojure lisp racket scheme",
}
COMMENT_SIGNS: Mapping[str, str] = {name: sign for sign, names in _BY_SIGN.items() for name in names.split()}
"""What a comment up to the end of the line begins with."""


def as_seen_from(language: str, cell_language: str, lines: list[str]) -> list[str]:
    """A cell's lines, each with its end, as they are shown in a cell of `language`; none if that cannot be done."""
    whole = [*lines[:-1], lines[-1] + "\n"] if lines[-1] else lines[:-1]
    if not any(line.strip() for line in whole):
        return []
    if language == MARKDOWN:
        return whole if cell_language == MARKDOWN else [f"```{cell_language}\n", *whole, "```\n"]
    if cell_language != language or _is_for_kernel(language, whole):
        return _commented(language, whole)
    return [_readable(line) for line in whole] if language == PYTHON else whole


def _is_for_kernel(language: str, lines: list[str]) -> bool:
    """Whether the whole cell is something else than its language says, such as `%%bash`."""
    first = next(line for line in lines if line.strip())
    return language == PYTHON and first.startswith("%%")


def _readable(line: str) -> str:
    """A line of Python; `%matplotlib inline` and `!pip list` are for the kernel."""
    return f"{COMMENT_SIGNS[PYTHON]}{line}" if line.startswith(KERNEL_SIGNS) else line


def _commented(language: str, lines: list[str]) -> list[str]:
    sign = COMMENT_SIGNS.get(language)
    if sign is None:
        return []
    return [sign + line if line.strip() else sign.rstrip() + "\n" for line in lines]
