"""The latest wins, and two ways to be cancelled are told apart."""

from __future__ import annotations

import asyncio

import pytest

from midfill_server.scheduler import Scheduler, Slot
from support.scripted import PATIENCE_S

A = Slot("file:///a", "inline")
B = Slot("file:///b", "inline")


class Work:
    """Stands still until it is let go; knows whether it was cancelled."""

    def __init__(self, result: str = "done") -> None:
        self.result = result
        self.begun, self.go, self.ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.was_cancelled = False

    async def run(self) -> str:
        self.begun.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            self.ended.set()
            raise
        return self.result


async def test_the_result_comes_through_and_the_slot_is_free_again() -> None:
    scheduler, work = Scheduler(), Work()
    work.go.set()
    assert await scheduler.latest(A, work.run()) == "done"
    assert len(scheduler) == 0


async def test_of_thirty_in_a_slot_only_the_last_ends() -> None:
    """Row 3 (helix-gpt#53): a queue of requests that nobody waits for, and the newest never answered."""
    scheduler, works = Scheduler(), [Work(str(number)) for number in range(30)]
    waiting = []
    for work in works:
        waiting.append(asyncio.ensure_future(scheduler.latest(A, work.run())))
        await work.begun.wait()
    works[-1].go.set()
    async with asyncio.timeout(PATIENCE_S):
        results = await asyncio.gather(*waiting)
    assert results == [None] * 29 + ["29"]
    assert [work.was_cancelled for work in works] == [True] * 29 + [False]


async def test_other_slots_go_on_but_a_change_of_the_text_stops_all_of_its_document() -> None:
    scheduler, mine, other = Scheduler(), Work(), Work()
    first = asyncio.ensure_future(scheduler.latest(A, mine.run()))
    second = asyncio.ensure_future(scheduler.latest(B, other.run()))
    await mine.begun.wait()
    await other.begun.wait()
    scheduler.supersede_all("file:///a")
    async with asyncio.timeout(PATIENCE_S):
        assert await first is None
    other.go.set()
    assert await second == "done"


async def test_who_waits_is_cancelled_and_so_is_the_work() -> None:
    """Row 4 (cline#7468): cancelled in the editor, still running on the GPU."""
    scheduler, work = Scheduler(), Work()
    waiting = asyncio.ensure_future(scheduler.latest(A, work.run()))
    await work.begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    async with asyncio.timeout(PATIENCE_S):
        await work.ended.wait()
    assert work.was_cancelled


async def test_an_error_comes_through() -> None:
    async def fail() -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await Scheduler().latest(A, fail())
