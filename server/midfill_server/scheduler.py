"""The latest request wins: what a newer request or a newer text makes useless is stopped at once.

Editors are not trusted to cancel: Neovim does not while somebody types. A superseded piece of work ends as None, which
is an outcome and no error; only whoever cancels the waiting request itself gets a CancelledError.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Slot:
    """Of the work in a slot only the latest is finished: what is asked, for which document."""

    uri: str
    feature: str


class Scheduler:
    """Runs the latest work of every slot. `on_begin` is called before any is begun."""

    def __init__(self) -> None:
        self.on_begin: Callable[[], None] = lambda: None
        self._running: dict[Slot, asyncio.Task[Any]] = {}

    def __len__(self) -> int:
        return len(self._running)

    async def latest(self, slot: Slot, work: Coroutine[Any, Any, T]) -> T | None:
        """The work's result; None as soon as something newer has taken its slot."""
        self.supersede(slot)
        self.on_begin()
        task = asyncio.ensure_future(work)
        self._running[slot] = task
        task.add_done_callback(lambda done: self._forget(slot, done))
        # asyncio.wait does not pass our own cancellation on to the task, so the two causes are told apart.
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            task.cancel()
            raise
        return None if task.cancelled() else task.result()

    def supersede(self, slot: Slot) -> None:
        """Stop what runs in a slot."""
        task = self._running.pop(slot, None)
        if task is not None:
            task.cancel()

    def supersede_all(self, uri: str) -> None:
        """Stop whatever runs for a document: its text has changed."""
        for slot in [slot for slot in self._running if slot.uri == uri]:
            self.supersede(slot)

    def _forget(self, slot: Slot, task: asyncio.Task[Any]) -> None:
        if self._running.get(slot) is task:
            del self._running[slot]
