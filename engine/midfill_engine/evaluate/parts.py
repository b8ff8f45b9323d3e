"""A preset without some of its parts, in this process: what each of them is worth is measured by leaving it out."""

from __future__ import annotations

from collections.abc import Sequence

from midfill_engine.api import Engine, EngineOptions
from midfill_engine.core import OnProgress
from midfill_engine.filler import Filler, load_preset
from midfill_engine.local import LocalEngine
from midfill_engine.presets import find_preset, without


def open_without(parts: Sequence[str], options: EngineOptions) -> Engine:
    """The preset's model, filling without `parts`, see `presets.without`."""

    def load(options: EngineOptions, on_progress: OnProgress) -> Filler:
        return load_preset(without(find_preset(options.preset), parts), options, on_progress)

    return LocalEngine(options, load)
