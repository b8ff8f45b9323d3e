"""Figures of many graded fills: overall, by kind, by length."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from midfill_engine.bench.timing import percentile
from midfill_engine.evaluate.bootstrap import Estimate, estimate
from midfill_engine.evaluate.grading import Graded

RATES: Mapping[str, Callable[[Graded], float | None]] = {
    "exact_match": lambda graded: graded.is_exact,
    "exact_match_blanks": lambda graded: graded.is_exact_but_blanks,
    "exact_match_raw": lambda graded: graded.is_raw_exact,
    "edit_similarity": lambda graded: graded.edit_similarity,
    "edit_similarity_raw": lambda graded: graded.raw_edit_similarity,
    "parse_rate": lambda graded: graded.parses,
    "suffix_echo_rate": lambda graded: graded.echoes_suffix,
    "empty_rate": lambda graded: graded.is_empty,
    "pass_at_1": lambda graded: graded.passes,
    "gold_pass_at_1": lambda graded: graded.gold_passes,
}
"""Each a value of one graded fill, or None where it has none and does not count."""

_CHARS = (10, 20, 40, 80, 160, 320)
_TOKENS = (4, 8, 16, 32, 64)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What is said of some graded fills. `rates`: by the names of `RATES`, None where no fill has a value."""

    num_cases: int
    num_groups: int
    rates: Mapping[str, Estimate | None]
    latency_ms_p50: float
    latency_ms_p95: float
    steps_mean: float

    def micro(self, name: str) -> float | None:
        rate = self.rates[name]
        return None if rate is None else rate.micro


@dataclass(frozen=True, kw_only=True)
class Summary:
    """`by_chars` and `by_tokens`: by the true middle's length, the buckets named like `11-20`, shortest first."""

    overall: Figures
    by_kind: Mapping[str, Figures]
    by_chars: Mapping[str, Figures]
    by_tokens: Mapping[str, Figures]
    by_kind_and_chars: Mapping[str, Mapping[str, Figures]]


def summarise(graded: list[Graded], seed: int = 0, num_tokens: Callable[[str], int] | None = None) -> Summary:
    """All figures; `num_tokens` counts a text's tokens, where the model's vocabulary is known."""
    by_kind = _split(graded, lambda one: one.case.kind)
    return Summary(
        overall=figures(graded, seed),
        by_kind=_figures_of(by_kind, seed),
        by_chars=_figures_of(_by_length(graded, len, _CHARS), seed),
        by_tokens=_figures_of(_by_length(graded, num_tokens, _TOKENS), seed) if num_tokens else {},
        by_kind_and_chars={kind: _figures_of(_by_length(part, len, _CHARS), seed) for kind, part in by_kind.items()},
    )


def figures(graded: list[Graded], seed: int) -> Figures:
    """The figures of at least one graded fill."""
    latencies = [one.answer.latency_ms for one in graded]
    return Figures(
        num_cases=len(graded),
        num_groups=len({one.case.group for one in graded}),
        rates={name: estimate(_values(graded, value), seed) for name, value in RATES.items()},
        latency_ms_p50=statistics.median(latencies),
        latency_ms_p95=percentile(latencies, 95),
        steps_mean=statistics.fmean(one.answer.num_steps for one in graded),
    )


def _values(graded: list[Graded], value: Callable[[Graded], float | None]) -> Iterable[tuple[str, float]]:
    for one in graded:
        found = value(one)
        if found is not None:
            yield one.case.group, float(found)


def _figures_of(parts: Mapping[str, list[Graded]], seed: int) -> dict[str, Figures]:
    return {name: figures(part, seed) for name, part in parts.items()}


def _split(graded: list[Graded], key: Callable[[Graded], str]) -> dict[str, list[Graded]]:
    parts: dict[str, list[Graded]] = {}
    for one in graded:
        parts.setdefault(key(one), []).append(one)
    return dict(sorted(parts.items()))


def _by_length(graded: list[Graded], length: Callable[[str], int], bounds: tuple[int, ...]) -> dict[str, list[Graded]]:
    """Split by the true middle's length, shortest first."""
    parts = _split(graded, lambda one: _bucket(length(one.case.middle), bounds))
    return dict(sorted(parts.items(), key=lambda part: int(part[0].rstrip("+").split("-")[0])))


def _bucket(length: int, bounds: tuple[int, ...]) -> str:
    low = 0
    for bound in bounds:
        if length <= bound:
            return f"{low}-{bound}"
        low = bound + 1
    return f"{low}+"
