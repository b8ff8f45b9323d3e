"""The statistics as people and programs read them."""

from __future__ import annotations

from midfill_server.tally import Tally

Figures = dict[str, int | float | None]


def figures(tally: Tally) -> Figures:
    """Numbers by names that do not change."""
    return {
        "shown": tally.num_shown,
        "accepted": tally.num_accepted,
        "acceptedShare": _share(tally.num_accepted, tally.num_shown),
        "partlyAccepted": tally.num_partly_accepted,
        "charactersAccepted": tally.num_characters_accepted,
        "charactersWatched": tally.num_characters_watched,
        "charactersKept": tally.num_characters_kept,
        "keptShare": _share(tally.num_characters_kept, tally.num_characters_watched),
        "latencyMsP50": tally.latency_ms(50),
        "latencyMsP95": tally.latency_ms(95),
        "requests": tally.num_asked,
        "answered": tally.num_answered,
        "fromMemory": tally.num_known,
        "fromRunningFill": tally.num_joined,
        "fromFillAhead": tally.num_ahead,
        "engineCalls": tally.num_fills,
        "engineCallsAhead": tally.num_fills_ahead,
    }


def rows(tally: Tally) -> list[tuple[str, str]]:
    """What is told, and how much."""
    accepted = f"{tally.num_accepted:,}{_percent(tally.num_accepted, tally.num_shown)}"
    kept = f"{tally.num_characters_kept:,}{_percent(tally.num_characters_kept, tally.num_characters_watched)}"
    p50, p95 = tally.latency_ms(50), tally.latency_ms(95)
    memory = f"{tally.num_known:,}{_percent(tally.num_known, tally.num_answered)}"
    return [
        ("suggestions shown", f"{tally.num_shown:,}"),
        ("accepted", accepted),
        ("accepted in part", f"{tally.num_partly_accepted:,}"),
        ("characters accepted", f"{tally.num_characters_accepted:,}"),
        ("characters still there a minute later", kept),
        ("wait for a suggestion, half of them below", "-" if p50 is None else f"{p50:g} ms"),
        ("95 of 100 below", "-" if p95 is None else f"{p95:g} ms"),
        ("requests answered", f"{tally.num_answered:,} of {tally.num_asked:,}"),
        ("from what was suggested before", memory),
        ("from a fill that was under way", f"{tally.num_joined:,}"),
        ("from a fill made in advance", f"{tally.num_ahead:,}"),
        ("questions to the engine", f"{tally.num_fills:,}, {tally.num_fills_ahead:,} in advance"),
    ]


def markdown(tally: Tally) -> str:
    """A table for people."""
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows(tally))])


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def _percent(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.0f}%)" if whole else ""
