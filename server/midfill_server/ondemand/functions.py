"""The function around a position, found by its first line and by indentation: in a text that does not parse, too.

Reads upwards from the position and down to the function's end and no further, so that it costs little in a big file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from midfill_server.positions import without_eol

STRING_OR_COMMENT = re.compile(r"""\"(?:[^"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|#.*""")
CLASS = re.compile(r"[ \t]*class\s+(?P<name>\w+)")
METHOD = (
    r"(?:(?:public|private|protected|static|async|override|abstract|get|set)\s+)*\*?\s*"
    r"(?!(?:if|for|while|switch|catch|with|function|return|await|new)\b)"
    r"(?P<method>[\w$#]+)\s*(?:<[^>]*>)?\([^()]*\)\s*(?::[^=;{]+)?\{\s*$"
)
SCRIPT = re.compile(
    r"[ \t]*(?:export\s+)?(?:default\s+)?(?:(?P<is_async>async\s+)?function\b\s*\*?\s*(?P<name>[\w$]+)"
    r"|(?:const|let|var)\s+(?P<bound>[\w$]+)\s*=\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>))"
    rf"|[ \t]+{METHOD}"
)
HEADERS: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(r"[ \t]*(?:(?P<is_async>async)\s+)?def\s+(?P<name>\w+)"),
    "rust": re.compile(r"[ \t]*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+|const\s+|unsafe\s+)*fn\s+(?P<name>\w+)"),
    "go": re.compile(r"func\s+(?:\([^)]*\)\s*)?(?P<name>\w+)"),
    "javascript": SCRIPT,
    "javascriptreact": SCRIPT,
    "typescript": SCRIPT,
    "typescriptreact": SCRIPT,
}
DOCUMENTED = re.compile(r"[ \t]*(?:(?:async\s+)?def|class)\s+(?P<name>\w+)")
"""What has a docstring in Python."""

MOST_ROWS = 2_000


@dataclass(frozen=True, kw_only=True)
class Function:
    """Rows of a function: `top` with its decorators, `header` to `header_end` its signature, `end` its last.

    `owner`: the class it is in. `indent`: of its first line. `is_async`: its first line says so.
    """

    name: str
    owner: str
    indent: str
    top: int
    header: int
    header_end: int
    end: int
    is_async: bool = False


def documented_at(lines: Sequence[str], row: int, language: str) -> Function | None:
    """The innermost function that a row is in, in Python also a class."""
    return function_at(lines, row, language, DOCUMENTED if language == "python" else None)


def function_at(
    lines: Sequence[str], row: int, language: str, header: re.Pattern[str] | None = None
) -> Function | None:
    """The innermost function that a row is in; None where there is none or the language is not known.

    `header`: how something else begins that is wanted too.
    """
    pattern = header or HEADERS.get(language)
    if pattern is None:
        return None
    for above in range(row, max(row - MOST_ROWS, -1), -1):
        match = pattern.match(lines[above])
        if match is not None:
            function = _function(lines, above, match, language)
            if row <= function.end:
                return function
    return _decorated(lines, row, language, header)


def _decorated(lines: Sequence[str], row: int, language: str, header: re.Pattern[str] | None) -> Function | None:
    """The function below, if the row is one of its decorators."""
    below = row
    while below + 1 < len(lines) and lines[below].lstrip().startswith(("@", "#[")):
        below += 1
    return function_at(lines, below, language, header) if below > row else None


def _function(lines: Sequence[str], header: int, match: re.Match[str], language: str) -> Function:
    names = match.groupdict()
    indent = indent_of(lines[header])
    header_end = _header_end(lines, header, language)
    return Function(
        name=names["name"] or names.get("bound") or names.get("method") or "",
        owner=_owner(lines, header, indent) if language == "python" else "",
        indent=indent,
        top=_top(lines, header, indent),
        header=header,
        header_end=header_end,
        end=_end(lines, header_end, indent, language),
        is_async=bool(names.get("is_async")),
    )


def _header_end(lines: Sequence[str], header: int, language: str) -> int:
    """The row on which the signature ends: brackets are closed again and the body is opened."""
    opener, depth = ":" if language == "python" else "{", 0
    for row in range(header, min(header + MOST_ROWS, len(lines))):
        code = STRING_OR_COMMENT.sub("", without_eol(lines[row]))
        depth += sum(code.count(bracket) for bracket in "([") - sum(code.count(bracket) for bracket in ")]")
        if depth <= 0 and opener in code:
            return row
    return header


def _end(lines: Sequence[str], header_end: int, indent: str, language: str) -> int:
    """The last row of the body: the last that is indented deeper, and the line that closes it."""
    end = header_end
    for row in range(header_end + 1, min(header_end + MOST_ROWS, len(lines))):
        if not lines[row].strip():
            continue
        if len(indent_of(lines[row])) <= len(indent):
            is_closer = language != "python" and lines[row].lstrip().startswith("}")
            return row if is_closer else end
        end = row
    return end


def _top(lines: Sequence[str], header: int, indent: str) -> int:
    while header > 0 and lines[header - 1].startswith((indent + "@", indent + "#[")):
        header -= 1
    return header


def _owner(lines: Sequence[str], header: int, indent: str) -> str:
    """The class that a method is in."""
    for row in range(header - 1, max(header - MOST_ROWS, -1), -1):
        if indent and lines[row].strip() and len(indent_of(lines[row])) < len(indent):
            match = CLASS.match(lines[row])
            return match["name"] if match else ""
    return ""


def indent_of(line: str) -> str:
    """What a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def body_indent(lines: Sequence[str], function: Function) -> str:
    """How the body is indented, or would be."""
    for row in range(function.header_end + 1, function.end + 1):
        if lines[row].strip() and len(indent_of(lines[row])) > len(function.indent):
            return indent_of(lines[row])
    return function.indent + ("\t" if "\t" in function.indent else "    ")


def text_of(lines: Sequence[str], function: Function) -> str:
    """The function's own text, line ends \\n."""
    return "\n".join(without_eol(line) for line in lines[function.top : function.end + 1])
