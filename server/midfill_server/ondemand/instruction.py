"""What to do with a selection, said in a comment inside it: `# midfill: use a dict`, whatever the comment's syntax."""

from __future__ import annotations

import re

from midfill_server.documents import split_lines
from midfill_server.positions import without_eol

SAID = re.compile(r"(?:[^\w\s\"']{1,4}|\brem\b)[ \t]{0,8}midfill:", re.IGNORECASE)
CLOSER = re.compile(r"\*/|-->|\*\)|--\]\]|#\}|%>")


def split_instruction(text: str) -> tuple[str, str]:
    """The instruction in a text, and the text without the comment that holds it."""
    if "midfill:" not in text.lower():
        return "", text
    parts = [_split_line(line) for line in split_lines(text)]
    return "\n".join(said for said, _ in parts if said), "".join(rest for _, rest in parts)


def _split_line(line: str) -> tuple[str, str]:
    """The same for one line; nothing is left of one that has nothing else."""
    body = without_eol(line)
    begun = SAID.search(body)
    if begun is None:
        return "", line
    closed = CLOSER.search(body, begun.end())
    said = body[begun.end() : closed.start() if closed else len(body)].strip()
    rest = body[: begun.start()].rstrip(" \t") + (body[closed.end() :] if closed else "")
    return said, rest + line[len(body) :] if rest.strip() else ""
