"""The bench's output: a table for people, one JSON line for programs."""

from __future__ import annotations

import json

from rich.console import Console
from rich.table import Table

from midfill_engine.bench.timing import Series

MEANINGS = {
    "fill_vs_generate": "one key later, how many times faster than transformers' generate (1k context)",
    "fill_vs_generate_cold": "the same with an empty cache",
    "diffusion_vs_ar": "tokens a second against left to right, same weights, 24 tokens and more",
    "warm_vs_cold": "how many times longer a cold fill takes than one key later",
    "keystroke_2k_vs_128": "a fill one key later in 2k of context against 128 tokens",
    "lsp_overhead_ms_p95": "LSP round trip less the engine's time",
    "ghost_text_ms_p50": "request to item while typing 8 keys a second",
    "ghost_text_ms_p95": "",
    "ghost_text_share": "keys answered with ghost text before the next one",
    "ghost_text_vs_round_trip": "the same against a single request for several drafts, asked for and waited for",
    "type_through_ms_p95": "request to item while typing what is suggested, the engine not asked",
    "did_change_5mb_ms_p95": "a key in the middle of a file of 5 MB: told, taken in, and the next message answered",
    "initialize_ms_p50": "server start to the answer of initialize",
}


def print_report(series: list[Series], figures: dict[str, float], exact: dict[str, float], console: Console) -> None:
    """The two tables."""
    times = Table("measured", "n", "p50 ms", "p95 ms", title="times")
    for one in series:
        if one.values:
            times.add_row(one.name, str(len(one.values)), f"{one.p50:.1f}", f"{one.p95:.1f}")
    console.print(times)
    summary = Table("figure", "", "meaning", title="figures")
    for name, value in figures.items():
        summary.add_row(name, f"{value:.2f}", MEANINGS.get(name, ""))
    for name, value in exact.items():
        summary.add_row(f"exact match, {name}", f"{100 * value:.0f}%", "on the holes of the first comparison")
    console.print(summary)


def json_line(figures: dict[str, float], exact: dict[str, float], facts: dict[str, object]) -> str:
    """Everything on one line."""
    rounded = {name: round(value, 3) for name, value in figures.items()}
    return json.dumps({**rounded, **{f"exact_match_{name}": value for name, value in exact.items()}, **facts})
