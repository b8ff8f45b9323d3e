"""What a middle repeats of the text around it.

Copying the pinned suffix into the hole is the commonest failure of diffusion infilling: the suffix is the likeliest
text to stand before itself when the hole is too long. What is repeated is cut off here, with care for what only looks
repeated: `foo(` + `x)` + `)` closes two brackets and repeats none, and an inner `}` is not the outer one below it.

`before` and `after` are the parts of the hole's line left and right of it; `above` and `below` whole lines around it.
"""

from __future__ import annotations

from midfill_engine.brackets import num_faults

_MIN_LETTERS = 3  # a shorter overlap of letters is chance
_CLOSERS = frozenset(")]}\"'`")
_MAX_LINES_ABOVE = 30  # of a statement that is still open at the hole


def trim_line_echo(text: str, before: str, after: str, above: list[str]) -> str:
    """The last line of an offer without an ending that repeats what stands right of the hole.

    An overlap counts when it holds enough letters to be no chance, when it is all of `after`, or when its closing
    brackets or quotes are one too many.
    """
    if text.strip() == after.strip() and (_num_letters(text) or not _CLOSERS.intersection(text)):
        return ""
    code = _open_statement(before, after, above)
    for length in range(min(len(text), len(after)), 0, -1):
        kept, overlap = text[: len(text) - length], after[:length]
        if text.endswith(overlap) and overlap.strip():
            is_better = num_faults(code + kept + after) < num_faults(code + text + after)
            if is_better or _num_letters(overlap) >= _MIN_LETTERS:
                return kept
    return _cut_where_it_closes(text, code, after)


def trim_below_echo(text: str, before: str, after: str, below: list[str]) -> str:
    """`text` cut where it goes on with lines that stand below the hole already (the first of them may be `after`)."""
    lines = text.split("\n")
    said = [before + lines[0], *lines[1:]]
    rest_of_line = before[: len(before) - len(before.lstrip())] + after if after.strip() else ""
    there = [line for line in (rest_of_line, *below) if line.strip()]
    for at in range(1 if before.strip() else 0, len(lines)):
        if there and _goes_on_as(said[at:], there):
            return "\n".join([*lines[:at], *_kept_of(lines[at], after)])
    return text


def trim_above_echo(text: str, before: str, above: list[str]) -> str:
    """`text` without first lines that repeat the last lines above the hole, unless those repeat themselves."""
    there = [line.rstrip() for line in above if line.strip()]
    lines = text.split("\n")
    said = [(before + lines[0]).rstrip(), *(line.rstrip() for line in lines[1:])]
    if before.strip():
        return text
    for num in range(min(len(said), len(there)), 0, -1):
        is_pattern = there.count(said[0]) > 1
        if said[:num] == there[-num:] and not is_pattern and _num_letters("".join(said[:num])) >= _MIN_LETTERS:
            return _without_lines(lines, num, before)
    return text


def trim_before_echo(text: str, before: str, after: str) -> str:
    """The first line of an offer without a beginning that repeats the end of what stands left of the hole, from the
    start of a word on; unless that would unbalance the brackets, or the line repeats itself already."""
    for length in range(min(len(text), len(before)), 0, -1):
        overlap = before[len(before) - length :]
        if not text.startswith(overlap) or _num_letters(overlap) < _MIN_LETTERS:
            continue
        is_mid_word = _is_word(overlap[0]) and _is_word(before[len(before) - length - 1 : len(before) - length])
        is_worse = num_faults(before + text[length:] + after) > num_faults(before + text + after)
        if not is_mid_word and not is_worse and before.count(overlap) == 1:
            return text[length:]
    return text


def _open_statement(before: str, after: str, above: list[str]) -> str:
    """`before` with as many lines above it as it takes until what `after` closes has been opened."""
    code = before
    for line in [*reversed(above[-_MAX_LINES_ABOVE:])]:
        if not num_faults(code + after):
            return code
        code = f"{line}\n{code}"
    return before if num_faults(code + after) else code


def _cut_where_it_closes(text: str, code: str, after: str) -> str:
    """`text` cut before it closes what `after` is there to close."""
    closer = after.lstrip()[:1]
    allowed = num_faults(code + after)
    if closer not in _CLOSERS or num_faults(code + text + after) <= allowed:
        return text
    places = (at for at, char in enumerate(text) if char == closer)
    return next((text[:at] for at in places if num_faults(code + text[:at] + after) <= allowed), text)


def _goes_on_as(said: list[str], there: list[str]) -> bool:
    """Whether lines repeat those of the document: their first is its first, no deeper indented, and holds enough
    letters to be no chance (`return total`, not `}`), or else it stands as deep and all others are repeated too."""
    depth, depth_there = _depth(said[0]), _depth(there[0])
    if said[0].strip() != there[0].strip() or depth > depth_there:
        return False
    if _num_letters(there[0]) >= _MIN_LETTERS:
        return True
    lines = [line.strip() for line in said if line.strip()]
    return depth == depth_there and lines == [line.strip() for line in there[: len(lines)]]


def _kept_of(line: str, after: str) -> list[str]:
    """What stays of the line that repeats the rest of the hole's line: its indentation, if that is not in `after`."""
    if not after.strip():
        return []
    return [line.rstrip().removesuffix(after.rstrip()) if line.rstrip().endswith(after.rstrip()) else ""]


def _without_lines(lines: list[str], num: int, before: str) -> str:
    rest = lines[num:]
    if rest and rest[0].strip() and not rest[0].startswith(before):
        return "\n".join(lines)  # goes on further left than the hole stands: not to be had without the first lines
    return "\n".join([rest[0].removeprefix(before), *rest[1:]]) if rest else ""


def _num_letters(text: str) -> int:
    return sum(_is_word(char) for char in text)


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _depth(line: str) -> int:
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip())
