"""What people are told of the models they can choose, without loading any."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import psutil

from midfill_engine.api import ModelCard
from midfill_engine.errors import EngineError
from midfill_engine.presets import Preset, find_preset, shipped_names

UNITS = ("B", "KB", "MB", "GB", "TB")


def model_cards(names: Iterable[str] = ()) -> tuple[ModelCard, ...]:
    """Cards of the known presets and of `names`, which may be folders; what is no model is left out."""
    every = dict.fromkeys([*shipped_names(), *names])
    return tuple(card for name in every if (card := _card(name)) is not None)


def _card(name: str) -> ModelCard | None:
    try:
        preset = find_preset(name)
    except EngineError:
        return None
    num_bytes = _num_bytes(preset)
    return ModelCard(
        name=name,
        description=preset.description,
        size=readable(num_bytes) if num_bytes else "",
        licence=preset.licence,
        fit=_fit(num_bytes, psutil.virtual_memory().available) if num_bytes else "",
        can_instruct=preset.can_instruct,
    )


def _num_bytes(preset: Preset) -> int:
    return sum(path.stat().st_size for path in Path(preset.source).glob("*.safetensors"))


def _fit(num_bytes: int, num_free: int) -> str:
    word = "fits" if num_bytes < num_free else "too big"
    return f"{word}: {readable(num_bytes)} of weights, {readable(num_free)} of memory free"


def readable(num_bytes: int) -> str:
    """A size for people, such as 17 MB."""
    size, unit = float(num_bytes), 0
    while size >= 999.5 and unit < len(UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.1f} {UNITS[unit]}" if unit and size < 9.95 else f"{size:.0f} {UNITS[unit]}"
