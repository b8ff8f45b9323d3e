"""Holes to fill: lines of the standard library, which is there wherever midfill is."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import inspect
import json
import random
import textwrap
from dataclasses import dataclass
from types import ModuleType

_MODULES: tuple[ModuleType, ...] = (argparse, dataclasses, textwrap, inspect, collections, json.decoder)


@dataclass(frozen=True, kw_only=True)
class Hole:
    """A cut in a real file; `middle` is what stood there."""

    prefix: str
    middle: str
    suffix: str


def line_holes(num: int, seed: int, min_prefix: int = 6000, num_lines: int = 1) -> list[Hole]:
    """`num` holes of `num_lines` whole lines of code (from the first one's indentation on), at least `min_prefix`
    characters into their files."""
    rng = random.Random(seed)
    sources = [text for text in map(inspect.getsource, _MODULES) if len(text) > min_prefix + 2000]
    found: list[Hole] = []
    while len(found) < num:
        hole = _try_hole(rng.choice(sources), rng, min_prefix, num_lines)
        if hole is not None:
            found.append(hole)
    return found


def _try_hole(text: str, rng: random.Random, min_prefix: int, num_lines: int) -> Hole | None:
    start = text.find("\n", rng.randrange(min_prefix, len(text) - 1500)) + 1
    end = start
    for _ in range(num_lines):
        end = text.find("\n", end) + 1
        if end == 0:
            return None
    lines = text[start : end - 1].split("\n")
    if any(not _is_code(line) for line in lines):
        return None
    start += len(lines[0]) - len(lines[0].lstrip())
    return Hole(prefix=text[:start], middle=text[start : end - 1], suffix=text[end - 1 :])


def _is_code(line: str) -> bool:
    return len(line.strip()) > 8 and not line.lstrip().startswith("#") and any(mark in line for mark in "=().:")
