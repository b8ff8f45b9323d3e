"""A runtime directory of the test's own; whatever process was started in it is stopped afterwards."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from midfill_engine.api import EngineOptions
from midfill_engine.service import fleet
from midfill_engine.service.client import ServiceEngine
from midfill_engine.service.launch import Command
from support.scripted import PATIENCE_S
from support.scripted_process import scripted_command


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """A test that hangs fails loudly, whatever it waits in."""

    def give_up(_signal: int, _frame: object) -> None:
        raise AssertionError("the test hangs")

    former = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 2 * PATIENCE_S)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, former)


Connect = Callable[..., ServiceEngine]


@pytest.fixture
async def options(tmp_path: Path) -> AsyncIterator[EngineOptions]:
    options = EngineOptions(preset="scripted", runtime_dir=tmp_path, idle_timeout_s=600.0)
    yield options
    async with asyncio.timeout(PATIENCE_S):
        await fleet.stop(options, every=True)


@pytest.fixture
async def connect(options: EngineOptions) -> AsyncIterator[Connect]:
    """Makes a client of a scripted engine process; closes them all."""
    engines: list[ServiceEngine] = []

    def make(command: Command | None = None, other: EngineOptions | None = None) -> ServiceEngine:
        engines.append(ServiceEngine(other or options, command or scripted_command()))
        return engines[-1]

    yield make
    for engine in engines:
        await engine.aclose()
