"""Numbers of a gateway since its start, in the text format that Prometheus reads. Numbers only, never a user's text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from midfill_engine.api import FillResult

BOUNDS_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)


class Metrics:
    """Belongs to one event loop."""

    def __init__(self) -> None:
        self.num_waiting = 0
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: Counter[float] = Counter()
        self._sums: Counter[str] = Counter()
        self._total_s = 0.0
        self._num_fills = 0

    def count(self, path: str, status: int) -> None:
        """A request that has been answered; 499: its client had gone."""
        self._requests[path, status] += 1

    def observe(self, result: FillResult, seconds: float) -> None:
        """A fill that has come to its end."""
        self._num_fills += 1
        self._total_s += seconds
        for bound in BOUNDS_S:
            self._buckets[bound] += seconds <= bound
        self._sums["tokens"] += result.num_tokens
        self._sums["steps"] += result.num_steps
        self._sums["prompt_tokens"] += result.num_prompt
        self._sums["cached_prompt_tokens"] += result.num_cached
        self._sums["empty_fills"] += not result.candidates

    def text(self) -> str:
        return "\n".join([*self._request_lines(), *self._time_lines(), *self._sum_lines(), *self._queue_lines(), ""])

    def _request_lines(self) -> Iterator[str]:
        yield "# HELP midfill_requests_total Requests by path and HTTP status; 499: the client has gone."
        yield "# TYPE midfill_requests_total counter"
        for (path, status), number in sorted(self._requests.items()):
            yield f'midfill_requests_total{{path="{path}",status="{status}"}} {number}'

    def _time_lines(self) -> Iterator[str]:
        yield "# HELP midfill_fill_seconds From a request's arrival to its result."
        yield "# TYPE midfill_fill_seconds histogram"
        for bound in BOUNDS_S:
            yield f'midfill_fill_seconds_bucket{{le="{bound}"}} {self._buckets[bound]}'
        yield f'midfill_fill_seconds_bucket{{le="+Inf"}} {self._num_fills}'
        yield f"midfill_fill_seconds_sum {self._total_s:.6f}"
        yield f"midfill_fill_seconds_count {self._num_fills}"

    def _sum_lines(self) -> Iterator[str]:
        for name in ("tokens", "steps", "prompt_tokens", "cached_prompt_tokens", "empty_fills"):
            yield f"# TYPE midfill_{name}_total counter"
            yield f"midfill_{name}_total {self._sums[name]}"

    def _queue_lines(self) -> Iterator[str]:
        yield "# HELP midfill_requests_waiting Requests that have come and are not answered yet."
        yield "# TYPE midfill_requests_waiting gauge"
        yield f"midfill_requests_waiting {self.num_waiting}"
