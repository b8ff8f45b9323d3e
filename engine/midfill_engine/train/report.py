"""What a run's log says: a table for people, one JSON line for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

COLUMNS = ("causal", "diffusion", "causal_accuracy", "first_slot0", "first_tokens", "later_tokens", "first_nulls")


def read_log(folder: Path) -> list[dict[str, Any]]:
    """Every line of a run's log; a line cut short by a kill is left out."""
    lines = []
    for text in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines():
        try:
            lines.append(json.loads(text))
        except json.JSONDecodeError:
            continue
    return lines


def summary(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """The last held-out figures, the tokens seen and the median rate."""
    steps = [line for line in lines if "tokens_s" in line]
    held_out = [line for line in lines if "dev" in line]
    rates = sorted(line["tokens_s"] for line in steps)
    return {
        "step": steps[-1]["step"] if steps else 0,
        "tokens": steps[-1]["tokens"] if steps else 0,
        "minutes": steps[-1]["minutes"] if steps else 0,
        "tokens_s_median": rates[len(rates) // 2] if rates else 0,
        "dev": held_out[-1]["dev"] if held_out else {},
    }


def table(lines: list[dict[str, Any]], rows: int) -> str:
    """The held-out figures over the run, at most `rows` of them, the last always among them."""
    held_out = [line for line in lines if "dev" in line]
    stride = max(1, -(-len(held_out) // rows))
    kept = held_out[::-1][::stride][::-1]
    head = f"{'step':>8} {'tokens (M)':>10} " + " ".join(f"{name:>15}" for name in COLUMNS)
    return "\n".join([head, *(_row(line) for line in kept)])


def _row(line: dict[str, Any]) -> str:
    cells = (line["dev"].get(name) for name in COLUMNS)
    figures = " ".join(f"{'-' if cell is None else format(cell, '.3f'):>15}" for cell in cells)
    return f"{line['step']:>8} {line['tokens'] / 1e6:>10.2f} {figures}"


def print_report(folder: Path, rows: int) -> None:
    """Print the table and the summary line."""
    lines = read_log(folder)
    print(table(lines, rows))
    print(json.dumps(summary(lines)))
