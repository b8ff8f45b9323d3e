"""Values between keys in JSON, YAML and TOML: the comma is right, and what comes out parses.

Other than in code nothing is unfinished where anything could stand that parses: so if something would parse at a place,
what is offered has to. A comma at the end is put or taken away for that, and lines of YAML are indented, nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from midfill_engine.syntax.gate import Gate
from midfill_server.postprocess.site import Site

LANGUAGES = frozenset(["json", "jsonc", "yaml", "toml"])
INDENT = 2
PROBES = ("0", '"x": 0', '"x": 0,', ', "x": 0', "x: 0", "x = 0", "- x", "0,", "", 'x"', "x")
"""Some value or pair fits into every place of a file that is whole but for that."""


def with_right_comma(text: str, num_absorbed: int, gate: Gate) -> str:
    """The middle with or without a comma at its end, as it parses."""
    if gate.is_sound(text, num_absorbed):
        return text
    stripped = text.rstrip()
    variants = (stripped.removesuffix(","), stripped + ",")
    return next((variant for variant in variants if gate.is_sound(variant, num_absorbed)), text)


def with_right_indent(text: str, site: Site, num_absorbed: int, gate: Gate, language: str) -> str:
    """In YAML, the lines of the middle as deep as those around them, as they parse."""
    if language != "yaml" or site.before.strip() or gate.is_sound(text, num_absorbed):
        return text
    variants = (_shifted(text, site.before, depth) for depth in _depths(site))
    return next((each for each in variants if each is not None and gate.is_sound(each, num_absorbed)), text)


def _depths(site: Site) -> Iterator[int]:
    """How deep a line may stand here: as the one above, a level deeper, as the one below."""
    above = next((line for line in reversed(site.prefix.split("\n")[:-1]) if line.strip()), "")
    below = next((line for line in site.following if line.strip()), "")
    for line, extra in ((above, 0), (above, INDENT), (below, 0)):
        yield len(line) - len(line.lstrip()) + extra


def _shifted(text: str, before: str, depth: int) -> str | None:
    """The lines, of which the first is to stand at a depth; None where the cursor stands deeper already."""
    first, *others = text.split("\n")
    by = depth - len(before) - (len(first) - len(first.lstrip()))
    if depth < len(before):
        return None
    moved = [" " * max(0, len(line) - len(line.lstrip()) + by) + line.lstrip() for line in others]
    return "\n".join([" " * (depth - len(before)) + first.lstrip(), *(line if line.strip() else "" for line in moved)])


def breaks_data(text: str, num_absorbed: int, gate: Gate) -> bool:
    """Whether the middle does not parse where something else would."""
    if gate.is_sound(text, num_absorbed):
        return False
    return any(gate.is_sound(probe) for probe in PROBES)
