"""Where a run's batches come from: drawn on the spot, or by worker processes that work ahead.

Batches are a pure function of (seed, step, number), so both give the same ones; a GPU eats them faster than one process
can make them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.pool import AsyncResult, Pool
from typing import Protocol

import torch

from midfill_engine.train.canvases import Batch, BatchSampler

AHEAD = 4  # batches each worker may be ahead


class Feed(Protocol):
    """Gives the micro-batches of a run in order."""

    def draw(self, step: int, number: int) -> Batch:
        """Micro-batch `number` of a step; asked for in order."""
        ...

    def close(self) -> None:
        """Let go of what works ahead."""
        ...


class Inline:
    """Draws in this process."""

    def __init__(self, sampler: BatchSampler, size: int, with_canvases: bool) -> None:
        self._sampler, self._size, self._with_canvases = sampler, size, with_canvases

    def draw(self, step: int, number: int) -> Batch:
        return self._sampler.draw(self._size, step, number, self._with_canvases)

    def close(self) -> None:
        """Nothing works ahead."""


class WorkersAhead:
    """Draws in `num_workers` processes, ahead of the run. `numbers`: micro-batches a step."""

    def __init__(self, inline: Inline, num_workers: int, first_step: int, numbers: int) -> None:
        # Forked, so that the shard is shared and not copied to each worker.
        self._pool: Pool = get_context("fork").Pool(num_workers, _start_worker, (inline,))
        self._coming = _places(first_step, numbers)
        self._waiting: deque[tuple[tuple[int, int], AsyncResult[Batch]]] = deque()
        for _ in range(AHEAD * num_workers):
            self._ask()

    def draw(self, step: int, number: int) -> Batch:
        place, result = self._waiting.popleft()
        assert place == (step, number), f"batches are drawn in order: {place} is next, not {(step, number)}"
        self._ask()
        return result.get()

    def close(self) -> None:
        self._pool.terminate()
        self._pool.join()

    def _ask(self) -> None:
        place = next(self._coming)
        self._waiting.append((place, self._pool.apply_async(_draw, place)))


def _places(first_step: int, numbers: int) -> Iterator[tuple[int, int]]:
    step = first_step
    while True:
        for number in range(numbers):
            yield step, number
        step += 1


_inline: Inline | None = None  # of a worker process, set once when it starts


def _start_worker(inline: Inline) -> None:
    global _inline
    _inline = inline
    torch.set_num_threads(1)


def _draw(step: int, number: int) -> Batch:
    assert _inline is not None
    return _inline.draw(step, number)
