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
    OnDraft,
    OnLoad,
)
from midfill_server.status import Kind, Status

logger = logging.getLogger(__name__)

GRACE_S = 1.0
"""How much longer than its deadline a fill may take before the engine is taken to be stuck or gone."""

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0


async def _start(options: EngineOptions, on_load: OnLoad) -> EngineStatus:
    return await api.start_engine(options, on_load)


@dataclass(frozen=True)
class EngineDoor:
    """How to get at an engine. `connect` may import much and is called in a thread."""

    connect: Callable[[EngineOptions], Engine] = api.connect
    start: Callable[[EngineOptions, OnLoad], Awaitable[EngineStatus]] = _start


@dataclass(frozen=True, kw_only=True)
class Load:
    """How far the loading of a model has come; `is_done` also if it failed."""

    preset: str
    share: float = 0.0
    message: str = ""
    is_done: bool = False


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
        self._failure = ""
        self.on_load: Callable[[Load], None] = lambda _load: None

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

    async def until_ready(self) -> str:
        """Wait for the model, for somebody who has asked and is told; empty, or why there is none."""
        self._retry_at = 0.0
        self.warm()
        while self._state is State.WARMING and self._warming is not None:
            await asyncio.wait((self._warming,))  # our own cancellation does not stop the loading
        return "" if self.is_ready else self._failure

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

    async def fill(self, request: FillRequest, on_draft: OnDraft | None = None) -> FillResult | None:
        """The engine's answer; None if there is no engine that could give one now."""
        self.warm()
        if not self.is_ready:
            return None
        try:
            return await self.demand(request, on_draft)
        except EngineError:
            return None

    async def demand(self, request: FillRequest, on_draft: OnDraft | None = None) -> FillResult:
        """The engine's answer, where it is known to be ready.

        Raises:
            EngineError: why there is none; it is in the log and in the status already.
        """
        engine = self._engine
        if engine is None or not self.is_ready:
            raise EngineUnavailable("there is no engine")
        try:
            return await self._fill_in_time(engine, request, on_draft)
        except EngineUnavailable as error:
            self._lose(engine, f"{request.request_id}: {error}")
            raise
        except TimeoutError:
            self._lose(engine, f"{request.request_id}: the engine has not answered in time")
            raise EngineUnavailable("the engine has not answered in time") from None
        except EngineError as error:
            logger.error("%s: %s", request.request_id, error)
            self._on_status(Status(Kind.WARNING, str(error)))
            raise

    async def _fill_in_time(self, engine: Engine, request: FillRequest, on_draft: OnDraft | None) -> FillResult:
        deadline_s = request.limits.deadline_s
        async with asyncio.timeout(None if deadline_s is None else deadline_s + GRACE_S):
            result = await engine.fill(request, on_draft)
        if result.note:
            logger.warning("%s: %s", request.request_id, result.note)
        self._on_status(Status(Kind.WARNING, result.note) if result.note else Status())
        return result

    def _lose(self, engine: Engine, why: str) -> None:
        logger.error("%s", why)
        if engine is self._engine:
            self._state = State.COLD

    async def _warm(self, options: EngineOptions) -> None:
        def tell(share: float, message: str) -> None:
            self.on_load(Load(preset=options.preset, share=share, message=message))

        tell(0.0, "")
        try:
            if self._engine is None:
                self._engine = await asyncio.to_thread(self._door.connect, options)
            status = await self._door.start(options, tell)
        except EngineError as error:
            self._fail(str(error))
        except Exception as error:  # whatever it is, it must not leave us waiting for ever
            logger.exception("the engine cannot be started")
            self._fail(f"the engine cannot be started: {type(error).__name__}")
        else:
            logger.info("engine ready: %s on %s, pid %s", status.preset, status.device, status.pid)
            self._state, self._pause_s = State.READY, FIRST_PAUSE_S
            self._on_status(Status())
        finally:
            self.on_load(Load(preset=options.preset, is_done=True))

    def _fail(self, message: str) -> None:
        logger.error("%s", message)
        self._failure = message
        self._state, self._retry_at = State.FAILED, self._now() + self._pause_s
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        self._on_status(Status(Kind.ERROR, message))


async def _close(engine: Engine) -> None:
    with suppress(EngineError):
        await engine.aclose()
