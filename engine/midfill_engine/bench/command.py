"""`midfill bench`."""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import Sequence

import torch
from rich.console import Console

from midfill_engine import __version__
from midfill_engine.api import EngineOptions, connect, stop_engine
from midfill_engine.bench.editor import (
    measure_large_file,
    measure_overhead,
    measure_type_through,
    measure_typing,
    server_command,
    serving,
)
from midfill_engine.bench.model import measure_model
from midfill_engine.bench.report import json_line, print_report
from midfill_engine.bench.timing import Series
from midfill_engine.presets import find_preset

_STARTS = 5
_SEED = 7


def run(argv: Sequence[str]) -> int:
    """Run the bench; exit code 0."""
    options = _parse(argv)
    if options.threads:
        torch.set_num_threads(options.threads)
    err = Console(stderr=True)
    with err.status("measuring") as status:

        def tell(what: str) -> None:
            status.update(f"measuring: {what}")

        model = measure_model(find_preset(options.preset), options.device, options.rounds, tell)
        tell("typing in an editor")
        series, figures = asyncio.run(_measure_editor(options))
    figures = {**model.ratios, **figures}
    if not options.json:
        print_report([*model.series, *series], figures, model.exact, Console())
    facts: dict[str, object] = {
        "preset": options.preset,
        "rounds": options.rounds,
        "threads": torch.get_num_threads(),
        "version": __version__,
    }
    print(json_line(figures, model.exact, facts))
    return 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="midfill bench", description="Measure speed, as ratios within this run.")
    parser.add_argument("--preset", default="pocket", help="a preset's name or a folder")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=0, help="threads of the model library; 0: its own choice")
    parser.add_argument("--rounds", type=int, default=20, help="holes of each comparison")
    parser.add_argument("--keys", type=int, default=80, help="keys typed in the editor's part")
    parser.add_argument("--json", action="store_true", help="print the JSON line only")
    return parser.parse_args(list(argv))


async def _measure_editor(options: argparse.Namespace) -> tuple[list[Series], dict[str, float]]:
    """A server and an engine of this run's own, in a runtime directory of their own (where the system asks XDG)."""
    start = Series("server start to initialize")
    with tempfile.TemporaryDirectory(prefix="midfill-bench-") as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        engine_options = EngineOptions(preset=options.preset, device=options.device)
        command: list[str] = server_command()
        settings: dict[str, object] = {"preset": options.preset, "device": options.device}
        engine = connect(engine_options)
        try:
            for _ in range(_STARTS):
                async with serving(command, settings, start):
                    pass
            async with serving(command, settings, Series("")) as client:
                whole, overhead = await measure_overhead(client, engine, options.keys, _SEED)
            async with serving(command, settings, Series("")) as client:
                typing, num_typed = await measure_typing(client, options.keys, _SEED)
            async with serving(command, settings, Series("")) as client:
                through = await measure_type_through(client, engine, options.keys, _SEED)
            async with serving(command, settings, Series("")) as client:
                large = await measure_large_file(client, options.keys)
        finally:
            await engine.aclose()
            await stop_engine(engine_options)
    figures = {"initialize_ms_p50": start.p50, "did_change_5mb_ms_p95": large.p95}
    if overhead.values:
        figures["lsp_overhead_ms_p95"] = overhead.p95
    figures["ghost_text_share"] = len(typing.values) / num_typed
    if typing.values:
        figures |= {"ghost_text_ms_p50": typing.p50, "ghost_text_ms_p95": typing.p95}
    if typing.values and whole.values:
        figures["ghost_text_vs_round_trip"] = typing.p50 / whole.p50
    if through.values:
        figures["type_through_ms_p95"] = through.p95
    return [start, whole, overhead, typing, through, large], figures
