"""A picture of accuracy by length, a line for each kind, and by kind alone. Needs matplotlib, which is an extra."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from midfill_engine.errors import RequestError
from midfill_engine.evaluate.bootstrap import Estimate
from midfill_engine.evaluate.summary import Figures, Summary

FORMATS = (".svg", ".png")
_WIDTH, _HEIGHT = 10.0, 4.2  # inches


def check_plot(path: Path) -> None:
    """RequestError if no plot could be written there, so that it is known before the work."""
    if path.suffix not in FORMATS:
        raise RequestError(f"a plot's name must end in {' or '.join(FORMATS)}, got {path.name}")
    if not path.absolute().parent.is_dir():
        raise RequestError(f"there is no folder {path.parent} for the plot")
    if find_spec("matplotlib") is None:
        raise RequestError("a plot needs matplotlib: pip install 'midfill[eval]'")


def draw(summary: Summary, title: str, path: Path) -> None:
    """Write the picture."""
    figure = import_module("matplotlib.figure").Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    by_length, by_kind = figure.subplots(1, 2, width_ratios=(3, 2))
    figure.suptitle(title)
    _draw_lengths(by_length, summary)
    _draw_kinds(by_kind, summary.by_kind)
    figure.savefig(path)


def _draw_lengths(axes: Any, summary: Summary) -> None:
    """Exact match (solid) and edit similarity (dashed) by the true middle's length."""
    places = {bucket: at for at, bucket in enumerate(summary.by_chars)}
    for number, (kind, parts) in enumerate(summary.by_kind_and_chars.items()):
        for rate, style in (("exact_match", "-"), ("edit_similarity", "--")):
            points = [(places[bucket], part.rates[rate]) for bucket, part in parts.items()]
            label = kind if style == "-" else None
            _draw_line(axes, points, {"linestyle": style, "color": f"C{number}", "label": label, "marker": "o"})
    axes.set(xlabel="characters of the true middle", ylim=(0, 1), title="exact (solid), edit similarity (dashed)")
    axes.set_xticks(list(places.values()), list(places))
    axes.legend()


def _draw_line(axes: Any, points: list[tuple[int, Estimate | None]], style: dict[str, Any]) -> None:
    known = [(at, estimate) for at, estimate in points if estimate is not None]
    errors = [_error(estimate) for _, estimate in known]
    axes.errorbar(
        [at for at, _ in known],
        [estimate.micro for _, estimate in known],
        yerr=[[low for low, _ in errors], [high for _, high in errors]],
        capsize=2,
        **style,
    )


def _draw_kinds(axes: Any, by_kind: Mapping[str, Figures]) -> None:
    width = 0.4
    for number, rate in enumerate(("exact_match", "edit_similarity")):
        estimates = [figures.rates[rate] for figures in by_kind.values()]
        known = [(at, estimate) for at, estimate in enumerate(estimates) if estimate is not None]
        errors = [_error(estimate) for _, estimate in known]
        axes.barh(
            [at + number * width for at, _ in known],
            [estimate.micro for _, estimate in known],
            height=width,
            xerr=[[low for low, _ in errors], [high for _, high in errors]],
            label=rate.replace("_", " "),
        )
    axes.set_yticks([at + width / 2 for at in range(len(by_kind))], list(by_kind))
    axes.set(xlim=(0, 1), title="by kind, 95% intervals")
    axes.legend()


def _error(estimate: Estimate) -> tuple[float, float]:
    """How far the interval reaches below and above."""
    low, high = estimate.micro_interval
    return max(0.0, estimate.micro - low), max(0.0, high - estimate.micro)
