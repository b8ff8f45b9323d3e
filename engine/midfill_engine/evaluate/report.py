"""The evaluation's output: tables for people, one JSON line for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from midfill_engine.evaluate.bootstrap import Estimate
from midfill_engine.evaluate.summary import RATES, Figures, Summary

_COLUMNS = {
    "exact_match": "exact",
    "edit_similarity": "edit",
    "parse_rate": "parses",
    "suffix_echo_rate": "echo",
    "empty_rate": "empty",
    "pass_at_1": "pass@1",
}
_WITH_INTERVAL = ("exact_match", "pass_at_1")  # more would not fit into 80 columns
_DIGITS = 4
_GOLD = ["gold_pass_at_1 is the ceiling of pass_at_1: the true middles on the same tests"]


def print_report(summary: Summary, title: str, notes: list[str], console: Console) -> None:
    """The tables: overall, by kind, by length; then what must be known to read them."""
    console.print(_overall(summary.overall, title))
    for name, parts in (
        ("kind", summary.by_kind),
        ("characters of the true middle", summary.by_chars),
        ("tokens of the true middle", summary.by_tokens),
    ):
        if parts:
            console.print(_by(name, parts))
    for note in [*_GOLD * (summary.overall.rates["gold_pass_at_1"] is not None), *notes]:
        console.print(note, style="dim", markup=False, highlight=False)


def json_line(summary: Summary, facts: Mapping[str, object]) -> str:
    """Everything on one line. A rate that no case has is null."""
    told: dict[str, object] = {
        **_plain(summary.overall),
        "n": summary.overall.num_cases,
        "groups": summary.overall.num_groups,
        "macro": {name: _rounded(rate.macro) for name, rate in summary.overall.rates.items() if rate},
        "intervals": {name: _intervals(rate) for name, rate in summary.overall.rates.items() if rate},
        "by_kind": _parts(summary.by_kind),
        "by_chars": _parts(summary.by_chars),
        "by_tokens": _parts(summary.by_tokens),
        **facts,
    }
    return json.dumps(told, ensure_ascii=False)


def _overall(figures: Figures, title: str) -> Table:
    table = Table("figure", "n", "per case", "95%", "per group", "95%", title=title, box=SIMPLE_HEAD)
    for name, rate in figures.rates.items():
        if rate is not None:
            table.add_row(
                name,
                str(rate.num_cases),
                _shown(rate.micro),
                _shown_interval(rate.micro_interval),
                _shown(rate.macro),
                _shown_interval(rate.macro_interval),
            )
    table.add_row("latency_ms_p50", "", f"{figures.latency_ms_p50:.1f}")
    table.add_row("latency_ms_p95", "", f"{figures.latency_ms_p95:.1f}")
    table.add_row("steps_mean", "", f"{figures.steps_mean:.1f}")
    return table


def _by(name: str, parts: Mapping[str, Figures]) -> Table:
    columns = {key: title for key, title in _COLUMNS.items() if any(part.rates[key] for part in parts.values())}
    table = Table("", "n", *columns.values(), "ms", "steps", title=f"by {name}, in percent", box=SIMPLE_HEAD)
    for part, figures in parts.items():
        rates = [_cell(key, figures.rates[key]) for key in columns]
        table.add_row(
            part, str(figures.num_cases), *rates, f"{figures.latency_ms_p50:.0f}", f"{figures.steps_mean:.1f}"
        )
    return table


def _shown(value: float) -> str:
    return f"{value:.3f}"


def _shown_interval(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.3f}–{interval[1]:.3f}"


def _cell(key: str, rate: Estimate | None) -> str:
    """In percent, some with their interval."""
    if rate is None:
        return ""
    low, high = (100 * bound for bound in rate.micro_interval)
    return f"{100 * rate.micro:.0f}" + (f" ({low:.0f}–{high:.0f})" if key in _WITH_INTERVAL else "")


def _plain(figures: Figures) -> dict[str, Any]:
    rates = {name: _rounded(figures.micro(name)) for name in RATES}
    return {
        **rates,
        "latency_ms_p50": _rounded(figures.latency_ms_p50),
        "latency_ms_p95": _rounded(figures.latency_ms_p95),
        "steps_mean": _rounded(figures.steps_mean),
    }


def _parts(parts: Mapping[str, Figures]) -> dict[str, dict[str, Any]]:
    return {part: {"n": figures.num_cases, **_plain(figures)} for part, figures in parts.items()}


def _intervals(rate: Estimate) -> dict[str, list[float | None]]:
    return {
        "micro": [_rounded(bound) for bound in rate.micro_interval],
        "macro": [_rounded(bound) for bound in rate.macro_interval],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
