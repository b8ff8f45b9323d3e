"""What to do with a selection, said in a comment inside it: `# midfill: use a dict`, whatever the comment's syntax."""

from __future__ import annotations

import re

COMMENT = re.compile(
    r"""[ \t]*(?:[^\w\s"']{1,4}|\brem\b)[ \t]*midfill:[ \t]*(?P<what>[^\r\n]*?)[ \t]*
        (?:(?:\*/|-->|\*\)|--\]\]|\#\}|%>)|(?=[\r\n]|\Z))""",
    re.IGNORECASE | re.VERBOSE,
)
WHOLE_LINE = re.compile(r"(?:(?<=\n)|(?<=\r)|\A)" + COMMENT.pattern + r"(?:\r\n?|\n|\Z)", COMMENT.flags)


def split_instruction(text: str) -> tuple[str, str]:
    """The instruction in a text, and the text without the comment that holds it."""
    found = [match["what"] for match in COMMENT.finditer(text)]
    if not found:
        return "", text
    rest = COMMENT.sub("", WHOLE_LINE.sub("", text))
    return "\n".join(what for what in found if what), rest
