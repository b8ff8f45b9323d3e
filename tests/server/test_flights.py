"""Fills under way: who may wait for which, and when one is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest

from midfill_engine.api import Draft, DraftToken, OnDraft
from midfill_server import flights as module
from midfill_server.cursors import Cursors
from midfill_server.documents import Document, Edit
from midfill_server.flights import Flight, Flights
from midfill_server.positions import Encoding
from midfill_server.scheduler import Slot
from midfill_server.snapshot import Snapshot, take
from support.scripted import PATIENCE_S

URI = "file:///a.py"
SLOT = Slot(URI, "inline")


def at(marked: str) -> Snapshot:
    before, after = marked.split("|")
    row, column = before.count("\n"), len(before) - before.rfind("\n") - 1
    return take(Document(URI, "python", 1, before + after), row, column, Encoding.UTF32)


class Fill:
    """Stands still until it is let go; its drafts are given by hand."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.on_draft: OnDraft | None = None

    async def run(self, on_draft: OnDraft) -> None:
        self.on_draft = on_draft
        await self.go.wait()

    def draft(self, *tokens: tuple[str, bool]) -> None:
        assert self.on_draft is not None
        self.on_draft(Draft(step=1, tokens=tuple(DraftToken(text=text, is_locked=locked) for text, locked in tokens)))


async def begun(flights: Flights, marked: str, is_full: bool = False, is_ahead: bool = False) -> tuple[Flight, Fill]:
    fill = Fill()
    flight = flights.start(SLOT, Flight(at(marked), fill.run, is_full=is_full, is_ahead=is_ahead))
    await asyncio.sleep(0)
    return flight, fill


async def ended(flight: Flight) -> bool:
    """Whether it was stopped; fails if it goes on."""
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.wait((flight.task,))
    return flight.task.cancelled()


@pytest.mark.parametrize(
    ("asked", "now", "joins"),
    [
        ("x = |\n", "x = |\n", True),
        ("x = |\n", "x = f|\n", True),
        ("x = |\n", "x = f(|)\n", True),  # the editor has closed the bracket
        ("f(|)\n", "f(a)|\n", True),  # typed over the bracket
        ("x = |\n", "x =|\n", False),
        ("x = |\n", "x = |\n\n", False),
        ("x = |\ny", "x = a|\nz", False),
    ],
)
async def test_who_may_join(asked: str, now: str, joins: bool) -> None:
    flights = Flights()
    flight, _fill = await begun(flights, asked)
    assert (flights.join(SLOT, at(now), is_full=False) is flight) is joins
    assert len(flights) == joins
    flights.stop_all()
    assert await ended(flight)


async def test_who_wants_several_does_not_wait_for_one() -> None:
    flights = Flights()
    flight, _fill = await begun(flights, "|")
    assert flights.join(SLOT, at("|"), is_full=True) is None
    assert await ended(flight)


async def test_a_draft_and_what_was_typed_contradict_each_other_whichever_comes_first() -> None:
    flights = Flights()
    first, fill = await begun(flights, "|")
    fill.draft(("foo", True), ("bar", False))
    assert flights.join(SLOT, at("fo|"), is_full=False) is first
    assert flights.join(SLOT, at("foob|"), is_full=False) is first
    assert flights.join(SLOT, at("foa|"), is_full=False) is None
    assert await ended(first)
    second, fill = await begun(flights, "|")
    assert flights.join(SLOT, at("fa|"), is_full=False) is second
    fill.draft(("f", True))
    fill.draft(("f", True), ("oo", False))
    assert await ended(second)


async def test_the_newest_request_waits_and_the_one_before_is_let_go() -> None:
    flights = Flights()
    flight, fill = await begun(flights, "|")
    older = flights.ticket(SLOT)
    waiting = asyncio.ensure_future(older.wait_for(flight))
    newer = flights.ticket(SLOT)
    async with asyncio.timeout(PATIENCE_S):
        await waiting
    assert (older.is_void, newer.is_void) == (True, False)
    flights.give_up(SLOT, older)  # another waits for it: nobody is harmed
    fill.go.set()
    await newer.wait_for(flight)
    assert not await ended(flight)
    assert len(flights) == 0


async def test_what_nobody_waits_for_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    flights = Flights()
    flight, _fill = await begun(flights, "|")
    flights.give_up(SLOT, flights.ticket(SLOT))
    assert await ended(flight)
    monkeypatch.setattr(module, "ORPHAN_S", 0.001)
    flight, _fill = await begun(flights, "|")
    flights.on_change(URI, lambda: [at("a|")])
    assert await ended(flight)


async def test_a_cancel_that_comes_before_its_key_stops_nothing() -> None:
    """An editor cancels because a key was pressed, and tells of the key a moment later."""
    flights = Flights()
    flight, fill = await begun(flights, "|")
    flights.give_up(SLOT, flights.ticket(SLOT))
    flights.on_change(URI, lambda: [at("a|")])
    assert flights.join(SLOT, at("a|"), is_full=False) is flight
    fill.go.set()
    assert not await ended(flight)


async def test_what_was_begun_in_advance_makes_way_until_somebody_asks_for_it() -> None:
    flights = Flights()
    flight, _fill = await begun(flights, "|", is_ahead=True)
    flights.stop_ahead(but=SLOT)
    assert len(flights) == 1
    flight.is_ahead = False
    flights.stop_ahead()
    assert len(flights) == 1
    flight.is_ahead = True
    flights.stop_ahead()
    assert await ended(flight)


def cursors(text: str, *edits: Edit) -> Iterable[str]:
    document = Document(URI, "python", 1, text)
    changes = document.apply(edits, 2, Encoding.UTF32)
    return [f"{cursor.prefix}|{cursor.suffix}" for cursor in Cursors(document, changes).all()]


def test_where_the_cursor_may_be_after_a_change() -> None:
    from midfill_server.documents import Span

    assert cursors("ab", Edit("c", Span(0, 1, 0, 1))) == ["ac|b"]
    assert cursors("f", Edit("()", Span(0, 1, 0, 1))) == ["f(|)", "f()|"]
    assert cursors("x", Edit("a\nb")) == ["a\nb|"]
