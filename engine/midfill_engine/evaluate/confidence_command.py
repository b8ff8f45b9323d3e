"""`midfill eval CASES --fit-confidence`: fits what confidence means, says how well, keeps it beside the weights."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from midfill_engine.api import EngineOptions, Mode
from midfill_engine.errors import RequestError
from midfill_engine.evaluate.asking import Asking
from midfill_engine.evaluate.cases import Case
from midfill_engine.evaluate.fit_confidence import Bin, fit, reliability, store, witnesses
from midfill_engine.filler import load_filler
from midfill_engine.presets import find_preset


def run(cases: Sequence[Case], arguments: argparse.Namespace) -> int:
    """Fit on the cases and store the weights in the preset's own folder.

    Raises:
        RequestError: the preset's drafts are not judged, or too few cases.
        EngineError: what the model fails with.
    """
    preset = find_preset(arguments.preset)
    if not preset.has_causal_draft:
        raise RequestError(f"preset {preset.name} judges no drafts, so there is nothing to fit confidence on")
    options = EngineOptions(preset=arguments.preset, device=arguments.device, num_threads=arguments.threads)
    filler = load_filler(options, lambda *_: None)
    mode = None if arguments.mode == "kind" else Mode(arguments.mode)
    seen = witnesses(filler, cases, Asking(mode=mode, max_steps=arguments.steps, seed=arguments.seed))
    calibration, bins = fit(seen), reliability(seen)
    if arguments.json:
        print(json.dumps({"calibration": calibration.weights, "num_cases": len(seen)}))
    else:
        Console().print(_table(bins))
    store(calibration, preset.source)
    return 0


def _table(bins: Sequence[Bin]) -> Table:
    table = Table("confidence", "drafts", "predicted", "exact", title="each draft by a fit that has not seen it")
    for entry in bins:
        table.add_row(
            f"{entry.low:.2f}–{entry.high:.2f}", str(entry.num), f"{entry.predicted:.2f}", f"{entry.exact:.2f}"
        )
    return table
