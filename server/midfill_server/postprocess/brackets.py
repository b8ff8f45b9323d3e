"""Brackets: an editor has often closed them already, and a model closes them again.

Brackets are counted as characters; those in strings and comments count too, which is why only the neighbourhood of the
cursor is looked at. A closing bracket is surplus if putting the text in leaves one more without a partner.
"""

from __future__ import annotations

from dataclasses import dataclass

from midfill_server.postprocess.site import Site

PAIRS = {")": "(", "]": "[", "}": "{"}
OPENERS = frozenset(PAIRS.values())


@dataclass(frozen=True)
class Balance:
    """Indices of brackets that have no partner in the text."""

    closers: tuple[int, ...]
    openers: tuple[int, ...]


def balance_of(text: str) -> Balance:
    """Pair the brackets of a text."""
    closers: list[int] = []
    openers: list[int] = []
    for index, character in enumerate(text):
        if character in OPENERS:
            openers.append(index)
        elif character in PAIRS:
            if openers and text[openers[-1]] == PAIRS[character]:
                openers.pop()
            else:
                closers.append(index)
    return Balance(tuple(closers), tuple(openers))


def num_surplus(text: str, site: Site) -> int:
    """How many closing brackets of the text are too many at this site, because others stand behind it."""
    without = len(balance_of(site.near_prefix + site.near_suffix).closers)
    with_text = len(balance_of(site.near_prefix + text + site.near_suffix).closers)
    most = min(len(balance_of(text).closers), len(balance_of(site.near_suffix).closers))
    return max(0, min(with_text - without, most))


def without_surplus_at_end(text: str, site: Site) -> str:
    """Cut closing brackets at the end that stand on a line below already."""
    for _ in range(num_surplus(text, site)):
        trimmed = text.rstrip()
        if not trimmed or len(trimmed) - 1 not in balance_of(trimmed).closers:
            return text
        text = trimmed[:-1]
    return text


def num_absorbed(text: str, site: Site) -> int:
    """How many closing brackets right of the cursor the text repeats before it goes on, to be replaced by it."""
    count = 0
    first_line = text.partition("\n")[0]
    surplus = num_surplus(text, site)
    for index in balance_of(first_line).closers:
        if count < surplus and site.after[count : count + 1] == text[index]:
            count += 1
    return count
