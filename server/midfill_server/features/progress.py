"""Work-done progress: for whatever takes longer than a moment, the loading of a model among it.

Shown only when it has taken a second, on the client's own token or on one that it has agreed to. What a person stops
there is cancelled.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from midfill_server.engine_link import Load
from midfill_server.session import Session

PATIENCE_S = 1.0
PERIOD_S = 0.1
Token = int | str


def register(server: LanguageServer, session: Session) -> Bars:
    """Show how far models are loaded; take what is stopped."""
    bars = Bars(server.protocol, has_progress=session.facts.has_progress)
    session.engine.on_load = _LoadBar(bars).show

    @server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def cancel(params: types.WorkDoneProgressCancelParams) -> None:
        bars.cancel(params.token)

    return bars


class Bars:
    """The bars that are there, by their tokens."""

    def __init__(self, protocol: LanguageServerProtocol, has_progress: bool) -> None:
        self._protocol = protocol
        self._has_progress = has_progress
        self._bars: dict[Token, Bar] = {}
        self._num_made = 0

    def start(self, title: str, token: Token | None = None, stop: Callable[[], object] | None = None) -> Bar:
        """A bar on the client's token, or on one of ours. `stop`: what a person who stops it wants."""
        self._num_made += 1
        is_known = token is not None
        bar = Bar(self._protocol, title, token if token is not None else f"midfill/{self._num_made}", stop)
        self._bars[bar.token] = bar
        bar.on_end = lambda: self._bars.pop(bar.token, None)
        if is_known or self._has_progress:
            bar.begin_later(is_known)
        return bar

    def cancel(self, token: Token) -> None:
        """Somebody has stopped one; nothing happens if it is over."""
        bar = self._bars.get(token)
        if bar is not None and bar.stop is not None:
            bar.stop()


class Bar:
    """One bar: begun after a while, reported on if begun, ended in any case."""

    def __init__(
        self, protocol: LanguageServerProtocol, title: str, token: Token, stop: Callable[[], object] | None
    ) -> None:
        self.token = token
        self.stop = stop
        self.on_end: Callable[[], object] = lambda: None
        self._protocol = protocol
        self._title = title
        self._message: str | None = None
        self._is_begun = False
        self._is_ended = False
        self._timer: asyncio.TimerHandle | None = None
        self._next_at = 0.0

    def begin_later(self, is_known: bool) -> None:
        """`is_known`: the token is the client's, which need not be asked."""
        call = self._begin if is_known else self._ask
        self._timer = asyncio.get_running_loop().call_later(PATIENCE_S, call)

    def report(self, message: str, share: float | None = None) -> None:
        """How far it is: a word, and a share from 0 to 1 if that is known."""
        self._message = message
        if not self._is_begun or self._is_ended or time.monotonic() < self._next_at:
            return
        self._next_at = time.monotonic() + PERIOD_S
        percentage = None if share is None else round(100 * share)
        self._tell(types.WorkDoneProgressReport(message=message, percentage=percentage, cancellable=self._can_stop))

    def end(self) -> None:
        """It is over; nothing happens the second time."""
        if self._is_ended:
            return
        self._is_ended = True
        if self._timer is not None:
            self._timer.cancel()
        if self._is_begun:
            self._tell(types.WorkDoneProgressEnd())
        self.on_end()

    @property
    def _can_stop(self) -> bool:
        return self.stop is not None

    def _ask(self) -> None:
        params = types.WorkDoneProgressCreateParams(token=self.token)

        def on_answer(answer: Future[Any]) -> None:
            if not answer.cancelled() and answer.exception() is None:
                self._begin()

        future = self._protocol.send_request(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params)
        future.add_done_callback(on_answer)

    def _begin(self) -> None:
        if not self._is_ended:
            self._is_begun = True
            self._tell(
                types.WorkDoneProgressBegin(title=self._title, message=self._message, cancellable=self._can_stop)
            )

    def _tell(self, value: object) -> None:
        self._protocol.notify(types.PROGRESS, types.ProgressParams(token=self.token, value=value))


class _LoadBar:
    """The bar of the model that is being loaded."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._bar: Bar | None = None

    def show(self, load: Load) -> None:
        if load.is_done:
            if self._bar is not None:
                self._bar.end()
            self._bar = None
            return
        if self._bar is None:
            self._bar = self._bars.start("midfill")
        self._bar.report(f"loading {load.preset}" + (f": {load.message}" if load.message else ""), load.share)
