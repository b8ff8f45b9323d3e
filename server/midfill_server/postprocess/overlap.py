"""What is there already is not offered again: the rest of the line, and the lines below.

The commonest failure of infilling is an echo of the suffix at the end of the middle.
"""

from __future__ import annotations

from itertools import takewhile

from midfill_server.postprocess.brackets import PAIRS, balance_of, num_surplus
from midfill_server.postprocess.site import Site

QUOTES = "\"'`"
LONG_ENOUGH = 3
"""A shorter rest of a line, if it is letters, may well end a word by chance."""


def without_rest_of_line(text: str, site: Site) -> str:
    """Cut the end of the text where it repeats what is right of the cursor."""
    after = site.after.rstrip()
    for size in range(min(len(after), len(text)), 0, -1):
        if text.endswith(after[:size]) and _is_echo(text, after, size, site):
            return text[:-size]
    return text


def _is_echo(text: str, after: str, size: int, site: Site) -> bool:
    echo = after[:size]
    has_letters = any(map(str.isalnum, echo))
    if has_letters and (size < len(after) or (echo.isalnum() and size < LONG_ENOUGH)):
        return False
    if not has_letters and echo.isspace():
        return False
    return _closes_what_was_open(text, size, site) and _is_odd_in_quotes(text, echo)


def _closes_what_was_open(text: str, size: int, site: Site) -> bool:
    """Whether the brackets in the last `size` characters are surplus: none closes something in the text itself."""
    closers = [index for index in range(len(text) - size, len(text)) if text[index] in PAIRS]
    lonely = balance_of(text).closers
    own = balance_of(text[-size:]).closers
    unpaired = [index for index in closers if index - (len(text) - size) in own]
    return all(index in lonely for index in unpaired) and len(unpaired) <= num_surplus(text, site)


def _is_odd_in_quotes(text: str, echo: str) -> bool:
    """Whether a quote in the echo ends a string that began before the text."""
    return all(text.count(quote) % 2 == 1 for quote in QUOTES if quote in echo and not any(map(str.isalnum, echo)))


def without_following_lines(text: str, site: Site) -> str:
    """Cut the last lines of the text where they are the lines that follow."""
    lines = [line.rstrip() for line in text.split("\n")]
    following = _next_lines(site)
    for count in range(min(len(lines), len(following)), 0, -1):
        tail = lines[len(lines) - count :]
        if tail[0] == "" or tail != following[:count]:
            continue
        if count < len(lines) or site.before.strip() == "":
            if _only_brackets(tail) and num_surplus(text, site) == 0:
                continue
            return "\n".join(text.split("\n")[: len(lines) - count])
    return _without_whole_echo(_before_next_line(text, lines, following), lines, following, site)


def _before_next_line(text: str, lines: list[str], following: list[str]) -> str:
    """The text up to the line that follows, where it says that line, just so indented, and then goes on."""
    says_much = len("".join(following[:1]).strip()) >= LONG_ENOUGH and not _only_brackets(following[:1])
    if not says_much or following[0] not in lines[1:]:
        return text
    return "\n".join(text.split("\n")[: lines.index(following[0], 1)])


def _without_whole_echo(text: str, lines: list[str], following: list[str], site: Site) -> str:
    """Nothing, where the first line, completed by what is left of the cursor, begins the lines that follow."""
    whole = [(site.before + lines[0]).rstrip(), *lines[1:]]
    is_echo = whole[0].strip() != "" and whole == following[: len(whole)] and not _only_brackets(whole)
    return "" if is_echo else text


def _next_lines(site: Site) -> list[str]:
    """The lines below the cursor's, from the first that is not blank."""
    lines = [line.rstrip() for line in site.following]
    return lines[sum(1 for _ in takewhile(lambda line: not line, lines)) :]


def _only_brackets(lines: list[str]) -> bool:
    return not any(character.isalnum() for line in lines for character in line)
