"""What a middle repeats of the text around it.

Copying the pinned suffix into the hole is the commonest failure of diffusion infilling: the suffix is the likeliest
text to stand before itself when the hole is too long. What is repeated is cut off here, with care for what only looks
repeated: `foo(` + `x)` + `)` closes two brackets and repeats none.
"""

from __future__ import annotations

_PAIRS = {")": "(", "]": "[", "}": "{"}
_MIN_LETTERS = 3  # a shorter overlap of letters is chance


def trim_line_echo(text: str, before: str, after: str) -> str:
    """`text` without an ending that repeats what stands right of the hole.

    `before` and `after` are what stands left and right of the hole on its line. An overlap counts when it holds enough
    letters to be no chance, or when its closing brackets or quotes are one too many.
    """
    for length in range(min(len(text), len(after)), 0, -1):
        overlap = after[:length]
        if not text.endswith(overlap) or not overlap.strip():
            continue
        kept = text[: len(text) - length]
        if sum(char.isalnum() or char == "_" for char in overlap) >= _MIN_LETTERS:
            return kept
        if not is_balanced(before + text + after) and is_balanced(before + kept + after):
            return kept
    return text


def is_balanced(line: str) -> bool:
    """Every closing bracket and quote of a line has its opening one on it (an opening one may stay open)."""
    stack: list[str] = []
    quote = ""
    escaped = False
    for char in line:
        if quote:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == quote:
                quote = ""
        elif char in "\"'`":
            quote = char
        elif char in "([{":
            stack.append(char)
        elif char in _PAIRS and (not stack or stack.pop() != _PAIRS[char]):
            return False
    return not quote


def trim_lines_echo(text: str, suffix: str) -> str:
    """`text` cut where it goes on with lines that stand below the hole already.

    Cut at the first of its lines that is the next non-blank line of `suffix`, if all of its lines from there on repeat
    the suffix in order, or if that line has enough letters to be no chance (`return total`, not `}`).
    """
    below = [line.strip() for line in suffix.splitlines() if line.strip()]
    lines = text.split("\n")
    for at in range(1, len(lines)):
        if below and lines[at].strip() == below[0] and _repeats(lines[at:], below):
            return "\n".join(lines[:at])
    return text


def _repeats(lines: list[str], below: list[str]) -> bool:
    said = [line.strip() for line in lines if line.strip()]
    if all(a == b for a, b in zip(said, below, strict=False)) and len(said) <= len(below):
        return True
    return sum(char.isalnum() for char in below[0]) >= _MIN_LETTERS
