"""What waits for the model's thread, and how the thread tells the caller's event loop about it.

Knows nothing of queues or models. Everything that reaches a caller goes through `call_soon_threadsafe`, in order; a
loop that has been closed meanwhile is nobody's problem any more.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from midfill_engine.api import Draft, EngineUnavailable, FillRequest, FillResult, Finish, OnDraft
from midfill_engine.core import Control, OnProgress
from midfill_engine.turns import Topic

T = TypeVar("T")


class Job:
    """One request on its way: it is answered exactly once, by `end`, `succeed` or `fail`."""

    def __init__(self, request: FillRequest, loop: asyncio.AbstractEventLoop, on_draft: OnDraft | None) -> None:
        self.request = request
        self.topic = Topic(client=request.client, document=request.document)
        self.loop = loop
        self.future: asyncio.Future[FillResult] = loop.create_future()
        self.arrived = time.monotonic()
        deadline_s = request.limits.deadline_s
        self.deadline = None if deadline_s is None else self.arrived + deadline_s
        self._on_draft = on_draft
        self._stop = threading.Event()
        self._stopped_as: Finish | None = None

    def control(self) -> Control:
        """What the running fill listens to and tells."""
        on_draft = None if self._on_draft is None else self._post_draft
        return Control(is_cancelled=self._stop.is_set, deadline=self.deadline, on_draft=on_draft)

    def stop(self, finish: Finish) -> None:
        """Stop the running fill before its next step; the first reason counts."""
        if not self._stop.is_set():
            self._stopped_as = finish
            self._stop.set()

    def stop_for_closing(self) -> None:
        """Stop the running fill because the engine ends: an error for the caller, not an outcome."""
        self._stop.set()

    def end(self, finish: Finish) -> None:
        """Answer without having worked."""
        _post(self.loop, _give, self.future, FillResult(candidates=(), finish=finish))

    def succeed(self, result: FillResult) -> None:
        """Answer with the fill's result, or with why it was stopped even if it came through just before."""
        if self._stopped_as is not None:
            result = replace(result, candidates=(), spares=(), finish=self._stopped_as)
        elif self._stop.is_set():
            self.fail(EngineUnavailable("the engine was stopped during the fill"))
            return
        _post(self.loop, _give, self.future, result)

    def fail(self, error: Exception) -> None:
        _post(self.loop, _raise, self.future, error)

    def _post_draft(self, draft: Draft) -> None:
        _post(self.loop, self._tell_draft, draft)

    def _tell_draft(self, draft: Draft) -> None:
        if self._on_draft is not None and not self.future.done():
            self._on_draft(draft)


class LoadWatch:
    """Somebody who waits for the model to be loaded and may want to see how far it is."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_progress: OnProgress | None) -> None:
        self._loop = loop
        self.future: asyncio.Future[None] = loop.create_future()
        self._on_progress = on_progress

    def tell(self, share: float, message: str) -> None:
        if self._on_progress is not None:
            _post(self._loop, self._tell_now, share, message)

    def succeed(self) -> None:
        _post(self._loop, _give, self.future, None)

    def fail(self, error: Exception) -> None:
        _post(self._loop, _raise, self.future, error)

    def _tell_now(self, share: float, message: str) -> None:
        if self._on_progress is not None and not self.future.done():
            self._on_progress(share, message)


def _post(loop: asyncio.AbstractEventLoop, call: Callable[..., None], *arguments: object) -> None:
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call, *arguments)


def _give(future: asyncio.Future[T], value: T) -> None:
    if not future.done():
        future.set_result(value)


def _raise(future: asyncio.Future[T], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
