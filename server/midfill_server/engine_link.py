"""The server's end of the engine: started in the background, never waited for by somebody who types.

    cold ── warm() ──▶ warming ──▶ ready ── a fill fails or hangs ──▶ cold
                          └──▶ failed ── after a pause, at the next warm() ──▶ warming

While the model is loaded requests are answered with nothing instead of being queued. An engine that cannot be started
is tried again with growing pauses; a failure is a line in the log and a word in the status, never a pop-up.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto

from midfill_engine import api
from midfill_engine.api import (
    Engine,
    EngineError,
    EngineOptions,
    EngineStatus,
    EngineUnavailable,
    FillRequest,
    FillResult,
)
from midfill_server.status import Kind, Status

logger = logging.getLogger(__name__)

GRACE_S = 1.0
"""How much longer than its deadline a fill may take before the engine is taken to be stuck or gone."""

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0


async def _start(options: EngineOptions) -> EngineStatus:
    return await api.start_engine(options)


@dataclass(frozen=True)
class EngineDoor:
    """How to get at an engine. `connect` may import much and is called in a thread."""

    connect: Callable[[EngineOptions], Engine] = api.connect
    start: Callable[[EngineOptions], Awaitable[EngineStatus]] = _start


class State(Enum):
    """See the module's picture."""

    COLD = auto()
    WARMING = auto()
    READY = auto()
    FAILED = auto()


class EngineLink:
    """One engine at a time, the one that the settings want."""

    def __init__(
        self,
        door: EngineDoor,
        options: EngineOptions,
        on_status: Callable[[Status], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._door = door
        self._options = options
        self._on_status = on_status
        self._now = now
        self._state = State.COLD
        self._engine: Engine | None = None
        self._warming: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._pause_s = FIRST_PAUSE_S
        self._retry_at = 0.0

    @property
    def is_ready(self) -> bool:
        return self._state is State.READY

    def warm(self) -> None:
        """Have the engine started and its model loaded, in the background, unless that is so or has just failed."""
        if self._state in (State.WARMING, State.READY):
            return
        if self._state is State.FAILED and self._now() < self._retry_at:
            return
        self._state = State.WARMING
        self._on_status(Status(message=f"loading {self._options.preset}", busy=True))
        self._warming = asyncio.ensure_future(self._warm(self._options))

    def use(self, options: EngineOptions) -> None:
        """Change over to another engine if the options are others; the old one lives on by its own idle rule."""
        if options == self._options:
            return
        old, self._engine = self._engine, None
        if self._warming is not None:
            self._warming.cancel()
        self._options, self._state, self._pause_s = options, State.COLD, FIRST_PAUSE_S
        if old is not None:
            self._closing = asyncio.ensure_future(_close(old))
        self.warm()

    async def fill(self, request: FillRequest) -> FillResult | None:
        """The engine's answer; None if there is no engine that could give one now."""
        self.warm()
        engine = self._engine
        if not self.is_ready or engine is None:
            return None
        try:
            return await self._fill_in_time(engine, request)
        except EngineUnavailable as error:
            self._lose(engine, f"{request.request_id}: {error}")
        except TimeoutError:
            self._lose(engine, f"{request.request_id}: the engine has not answered in time")
        except EngineError as error:
            logger.error("%s: %s", request.request_id, error)
            self._on_status(Status(Kind.WARNING, str(error)))
        return None

    async def _fill_in_time(self, engine: Engine, request: FillRequest) -> FillResult:
        deadline_s = request.limits.deadline_s
        async with asyncio.timeout(None if deadline_s is None else deadline_s + GRACE_S):
            result = await engine.fill(request)
        self._on_status(Status())
        return result

    def _lose(self, engine: Engine, why: str) -> None:
        logger.error("%s", why)
        if engine is self._engine:
            self._state = State.COLD

    async def _warm(self, options: EngineOptions) -> None:
        try:
            if self._engine is None:
                self._engine = await asyncio.to_thread(self._door.connect, options)
            status = await self._door.start(options)
        except EngineError as error:
            self._fail(str(error))
        except Exception as error:  # whatever it is, it must not leave us waiting for ever
            logger.exception("the engine cannot be started")
            self._fail(f"the engine cannot be started: {type(error).__name__}")
        else:
            logger.info("engine ready: %s on %s, pid %s", status.preset, status.device, status.pid)
            self._state, self._pause_s = State.READY, FIRST_PAUSE_S
            self._on_status(Status())

    def _fail(self, message: str) -> None:
        logger.error("%s", message)
        self._state, self._retry_at = State.FAILED, self._now() + self._pause_s
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        self._on_status(Status(Kind.ERROR, message))


async def _close(engine: Engine) -> None:
    with suppress(EngineError):
        await engine.aclose()
