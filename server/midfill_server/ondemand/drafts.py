"""The block as it develops: what of it is shown, and how often.

Of steps that come faster than people can see only the latest is sent, and never after the end has been told.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from midfill_engine.api import Draft

PERIOD_S = 1 / 30


class Timer(Protocol):
    """Something that is going to happen."""

    def cancel(self) -> None: ...


def later(delay_s: float, call: Callable[[], None]) -> Timer:
    """On the running event loop."""
    return asyncio.get_running_loop().call_later(delay_s, call)


class DraftStream:
    """One drawing: `send` gets drafts in their order, and at last None, once."""

    def __init__(
        self,
        send: Callable[[Draft | None], None],
        now: Callable[[], float] = time.monotonic,
        later: Callable[[float, Callable[[], None]], Timer] = later,
    ) -> None:
        self._send = send
        self._now = now
        self._later = later
        self._waiting: Draft | None = None
        self._timer: Timer | None = None
        self._next_at = 0.0
        self._is_done = False

    def show(self, draft: Draft) -> None:
        """A step has been made."""
        if self._is_done:
            return
        self._waiting = draft
        if self._timer is None:
            pause_s = self._next_at - self._now()
            if pause_s <= 0:
                self._flush()
            else:
                self._timer = self._later(pause_s, self._flush)

    def end(self) -> None:
        """The drawing is to be removed; nothing happens the second time."""
        if self._is_done:
            return
        self._is_done = True
        if self._timer is not None:
            self._timer.cancel()
        self._send(None)

    def _flush(self) -> None:
        self._timer = None
        draft, self._waiting = self._waiting, None
        if draft is not None and not self._is_done:
            self._next_at = self._now() + PERIOD_S
            self._send(draft)
