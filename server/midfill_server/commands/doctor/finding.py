"""What a check has found, and what a check is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from midfill_engine.api import EngineOptions


class Level(StrEnum):
    """`hint`: works, but could be better or is good to know. `broken`: something does not work."""

    OK = "ok"
    HINT = "hint"
    BROKEN = "broken"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """`topic` in a word or two, `told` in one line; `remedy`: the line to type, or what to do."""

    topic: str
    told: str
    level: Level = Level.OK
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class Case:
    """`file`: where the user misses suggestions. `is_quick`: nothing that loads a model library."""

    options: EngineOptions
    file: Path | None = None
    is_quick: bool = False


Check = Callable[[Case], Iterator[Finding]]
