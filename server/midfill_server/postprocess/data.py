"""Values between keys in JSON, YAML and TOML: the comma is right, and what comes out parses.

Other than in code nothing is unfinished where anything could stand that parses: so if something would parse at a place,
what is offered has to. JSON's comma is put or taken away for that, nothing else.
"""

from __future__ import annotations

from midfill_engine.syntax.gate import Gate

COMMAS = frozenset(["json", "jsonc"])
LANGUAGES = COMMAS | {"yaml", "toml"}
PROBES = ("0", '"x": 0', '"x": 0,', ', "x": 0', "x: 0", "x = 0", "- x", "0,", "", 'x"', "x")
"""Some value or pair fits into every place of a file that is whole but for that."""


def with_right_comma(text: str, num_absorbed: int, gate: Gate, language: str) -> str:
    """The middle with or without a comma at its end, as it parses."""
    if language not in COMMAS or gate.is_sound(text, num_absorbed):
        return text
    stripped = text.rstrip()
    variants = (stripped.removesuffix(","), stripped + ",")
    return next((variant for variant in variants if gate.is_sound(variant, num_absorbed)), text)


def breaks_data(text: str, num_absorbed: int, gate: Gate, language: str) -> bool:
    """Whether the middle does not parse where something else would."""
    if language not in LANGUAGES or gate.is_sound(text, num_absorbed):
        return False
    return any(gate.is_sound(probe) for probe in PROBES)
