"""Indentation: never twice, and in the file's own unit."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from math import gcd

from midfill_server.postprocess.site import Site

LEADING = re.compile(r"^[ \t]+", re.MULTILINE)
OPENS_BLOCK = (":", "{", "(", "[", "=>", "then", "do")
DEFAULT_UNIT = "    "
NARROW_LEVELS = (2, 3)


def without_double_indent(text: str, site: Site) -> str:
    """On a line that is indented already, take away indentation that goes deeper than the line can be."""
    if site.before.strip() or not site.before or text[:1] not in (" ", "\t"):
        return text
    lead = len(text) - len(text.lstrip(" \t"))
    room = max(0, _deepest(site) - len(site.before))
    return text[lead - min(lead, room) :]


def _deepest(site: Site) -> int:
    """How far a line here can be indented, in characters."""
    above = next((line for line in reversed(site.prefix.split("\n")[:-1]) if line.strip()), "")
    width = len(_lead(above))
    return width + len(unit_of(site)) if above.rstrip().endswith(OPENS_BLOCK) else width


def in_unit_of_file(text: str, site: Site) -> str:
    """Indent the lines of the middle with what the file uses, if it uses the other kind."""
    unit = unit_of(site)
    first, newline, rest = text.partition("\n")
    if not newline:
        return text
    lead = "".join(_lead(line) for line in rest.split("\n"))
    if unit == "\t" and " " in lead:
        width = _spaces_per_level(rest)
        return first + newline + LEADING.sub(lambda match: match[0].expandtabs(width).replace(" " * width, "\t"), rest)
    if unit != "\t" and "\t" in lead:
        return first + newline + LEADING.sub(lambda match: match[0].replace("\t", unit), rest)
    return text


def unit_of(site: Site) -> str:
    """The file's unit of indentation, judged by the lines near the cursor."""
    lines = (site.prefix[-8_000:] + site.suffix[:8_000]).split("\n")
    leads = [_lead(line) for line in lines if line.strip()]
    own = [] if site.before.strip() else [site.before]
    num_tabs = sum(lead.startswith("\t") for lead in leads + own)
    num_spaces = sum(lead.startswith(" ") for lead in leads + own)
    if num_tabs > num_spaces:
        return "\t"
    steps = Counter(
        abs(len(low) - len(high)) for low, high in pairwise(leads) if len(low) != len(high) and "\t" not in low + high
    )
    return " " * steps.most_common(1)[0][0] if steps else DEFAULT_UNIT


def _spaces_per_level(text: str) -> int:
    """Eight spaces are two levels of four: nobody can see it, but few write eight."""
    widths = [len(_lead(line)) for line in text.split("\n") if line.strip() and _lead(line).startswith(" ")]
    width = gcd(*widths)
    return width if width in NARROW_LEVELS else len(DEFAULT_UNIT)


def _lead(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
