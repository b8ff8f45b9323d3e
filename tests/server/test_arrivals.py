"""A request is about the text at the moment it arrived, however much later its handler begins."""

from __future__ import annotations

import asyncio

from midfill_server.arrivals import Arrivals


async def test_a_key_that_was_read_together_with_a_request_makes_it_outdated() -> None:
    """The handler began after the next key had been taken in, and stopped the fill that it should have joined."""
    arrivals, outdated = Arrivals(), {}

    async def handle(name: str) -> None:
        outdated[name] = arrivals.is_outdated("a")

    arrivals.note_change("a")
    arrivals.note_message()
    first = asyncio.ensure_future(handle("first"))
    arrivals.note_message()
    arrivals.note_change("a")
    arrivals.note_message()
    second = asyncio.ensure_future(handle("second"))
    arrivals.note_change("b")
    await asyncio.gather(first, second)
    assert outdated == {"first": True, "second": False}


async def test_who_is_asked_without_a_message_is_never_outdated() -> None:
    arrivals = Arrivals()
    arrivals.note_change("a")
    assert not arrivals.is_outdated("a")
    arrivals.note_message()
    arrivals.note_change("a")
    arrivals.forget("a")
    assert not arrivals.is_outdated("a")
