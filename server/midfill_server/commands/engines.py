"""Which engine a command works with, and how it is opened: the one place where commands meet the api's doors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from midfill_engine import api
from midfill_engine.api import Engine, EngineError, EngineOptions

Open = Callable[[EngineOptions], Engine]

CLOSING_PATIENCE_S = 2.0


@dataclass(frozen=True, kw_only=True)
class Doors:
    """How to get at an engine: a process shared with others, or the model in this very process."""

    connect: Open = api.connect
    open_local: Open = api.open_local


@asynccontextmanager
async def engine_for(options: EngineOptions, doors: Doors, *, is_local: bool) -> AsyncIterator[Engine]:
    """An engine that runs already, unless `is_local`; otherwise one in this process, so that no process stays behind.

    Let go of in the end, but not waited for when the work was broken off: whoever presses Ctrl-C wants the prompt.
    """
    engine = None if is_local else await _running_engine(options, doors)
    engine = engine or doors.open_local(options)
    is_interrupted = False
    try:
        yield engine
    except asyncio.CancelledError:
        is_interrupted = True
        raise
    finally:
        if not is_interrupted:
            with suppress(TimeoutError):
                await asyncio.wait_for(engine.aclose(), CLOSING_PATIENCE_S)


async def _running_engine(options: EngineOptions, doors: Doors) -> Engine | None:
    engine = doors.connect(replace(options, start=False))
    try:
        await engine.status()
    except EngineError:
        await engine.aclose()
        return None
    return engine
