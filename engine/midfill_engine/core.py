"""What the owner thread of a model runs: one fill at a time, from start to end.

The worker knows a model only through `FillCore`; the model's code knows who may interrupt it only through `Control`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from midfill_engine.api import Draft, EngineOptions, FillRequest, FillResult

OnProgress = Callable[[float, str], None]
"""Progress of loading: a share from 0 to 1 and a word for people."""


def never() -> bool:
    """The answer of somebody who does not cancel."""
    return False


@dataclass(frozen=True, kw_only=True)
class Control:
    """What a running fill listens to and tells, all from the model's thread.

    `is_cancelled` is asked before every step. `deadline` is a `time.monotonic()` instant, after which the best draft
    so far is read out. `on_draft` is told each draft; None: nobody watches, so none is made.
    """

    is_cancelled: Callable[[], bool] = never
    deadline: float | None = None
    on_draft: Callable[[Draft], None] | None = None


class FillCore(Protocol):
    """A loaded model that fills. Not thread-safe: one thread owns it."""

    @property
    def preset(self) -> str: ...

    @property
    def device(self) -> str: ...

    def fill(self, request: FillRequest, control: Control) -> FillResult:
        """Fill the hole; `Finish.CANCELLED` with no candidates when `control` said so. Raises EngineError."""
        ...


Load = Callable[[EngineOptions, OnProgress], FillCore]
"""Loads a model; raises PresetError, WeightsError or ResourceError."""
