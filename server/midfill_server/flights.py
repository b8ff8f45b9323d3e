"""Fills that are under way. Typing along with one does not stop it: whoever asks at a newer position joins it.

    request ─▶ a fill under way may agree? ── yes ─▶ wait for it ─▶ it agrees: the rest of it is the answer
                       └─ no: stop it, begin another ◀────────────── it does not, or a draft has said so already

For a document and a feature at most one fill is under way and at most one request waits: an older one is let go at
once, for its answer would be drawn into a text that has moved on. A fill that nobody waits for lives a moment longer,
because editors ask again some time after the key; one whose request was given up without a key is stopped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any

from midfill_engine.api import Draft, OnDraft
from midfill_server.agreement import contradicts, typed_along
from midfill_server.scheduler import Slot
from midfill_server.snapshot import Snapshot

ORPHAN_S = 0.5
"""How long a fill goes on for somebody who types along but has not asked again. Neovim asks 200 ms after a key."""

GIVEN_UP_S = 0.005
"""An editor that cancels because of a key may say so before it tells of the key."""

Work = Callable[[OnDraft], Coroutine[Any, Any, None]]


class Flight:
    """One fill. `is_full`: for somebody who asked for several; `is_ahead`: nobody has asked for it yet."""

    def __init__(self, snapshot: Snapshot, work: Work, is_full: bool = False, is_ahead: bool = False) -> None:
        self.snapshot = snapshot
        self.is_full = is_full
        self.is_ahead = is_ahead
        self._typed = ""
        self._drafted = ""
        self._ending: asyncio.TimerHandle | None = None
        self.task = asyncio.ensure_future(work(self._on_draft))

    def follow(self, now: Snapshot) -> bool:
        """Whether it may still answer at `now`; if so, its drafts are held against what was typed until then."""
        typed = typed_along(self.snapshot, now)
        if typed is None or contradicts(self._drafted, typed):
            return False
        self._typed = typed
        return True

    def has_answered(self, snapshot: Snapshot) -> bool:
        """Whether it was for this very place and has run to its end: asking again would give the same."""
        return self.task.done() and not self.task.cancelled() and self.snapshot == snapshot

    def stop(self) -> None:
        """Stop the engine before its next step."""
        self.keep()
        self.task.cancel()

    def stop_in(self, seconds: float) -> None:
        """Stop it then, unless it is kept."""
        self.keep()
        self._ending = asyncio.get_running_loop().call_later(seconds, self.task.cancel)

    def keep(self) -> None:
        """Somebody waits for it."""
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None

    def _on_draft(self, draft: Draft) -> None:
        # Slots that are not locked are taken into account too: what is likeliest there after a step mostly stays, and
        # to wait for a fill that begins otherwise costs more than to stop one that would have come round.
        self._drafted = draft.text
        if contradicts(self._drafted, self._typed):
            self.stop()


class Ticket:
    """The right of a slot's newest request to an answer. `is_void`: it has been lost to a newer one, or to a key."""

    def __init__(self) -> None:
        self._lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def is_void(self) -> bool:
        return self._lost.done()

    def void(self) -> None:
        """Let the request go."""
        if not self._lost.done():
            self._lost.set_result(None)

    async def wait_for(self, flight: Flight) -> None:
        """Until the fill has ended, however, or this is void."""
        await asyncio.wait((flight.task, self._lost), return_when=asyncio.FIRST_COMPLETED)

    async def pause(self, seconds: float) -> None:
        """So long, or until this is void."""
        await asyncio.wait((self._lost,), timeout=seconds)


@dataclass
class Flights:
    """The fills of all documents and who waits for them."""

    _flights: dict[Slot, Flight] = field(default_factory=dict)
    _tickets: dict[Slot, Ticket] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._flights)

    def ticket(self, slot: Slot) -> Ticket:
        """For the newest request; the one before it is let go."""
        self.let_go(slot)
        ticket = self._tickets[slot] = Ticket()
        return ticket

    def let_go(self, slot: Slot) -> None:
        """Whoever waits is answered with nothing."""
        ticket = self._tickets.pop(slot, None)
        if ticket is not None:
            ticket.void()

    def give_up(self, slot: Slot, ticket: Ticket) -> None:
        """The client has cancelled a request: what runs for it is stopped, unless another waits for that."""
        if self._tickets.get(slot) is ticket:
            del self._tickets[slot]
            if slot in self._flights:
                self._flights[slot].stop_in(GIVEN_UP_S)

    def join(self, slot: Slot, now: Snapshot, is_full: bool) -> Flight | None:
        """The fill under way that may answer at `now`; any other one of the slot is stopped."""
        flight = self._flights.get(slot)
        if flight is None:
            return None
        if flight.is_full < is_full or not flight.follow(now):
            self.stop(slot)
            return None
        flight.keep()
        return flight

    def start(self, slot: Slot, flight: Flight) -> Flight:
        """Have a fill in the slot, in place of what runs there."""
        self.stop(slot)
        self._flights[slot] = flight
        flight.task.add_done_callback(lambda _task: self._forget(slot, flight))
        return flight

    def stop(self, slot: Slot) -> None:
        """Stop what runs in a slot."""
        flight = self._flights.pop(slot, None)
        if flight is not None:
            flight.stop()

    def stop_all(self, uri: str | None = None) -> None:
        """Stop everything, or what is for one document, and let those go who wait."""
        for slot in [slot for slot in {*self._flights, *self._tickets} if uri in (None, slot.uri)]:
            self.let_go(slot)
            self.stop(slot)

    def stop_ahead(self, but: Slot | None = None) -> None:
        """Somebody asks for something: what nobody has asked for makes way."""
        for slot in [slot for slot, flight in self._flights.items() if flight.is_ahead and slot != but]:
            self.stop(slot)

    def on_change(self, uri: str, cursors: Callable[[], Iterable[Snapshot]]) -> None:
        """The text has changed; `cursors`: where the cursor may be now."""
        for slot in [slot for slot in self._tickets if slot.uri == uri]:
            self.let_go(slot)
        for slot in [slot for slot in self._flights if slot.uri == uri]:
            flight = self._flights[slot]
            if any(flight.follow(cursor) for cursor in cursors()):
                flight.stop_in(ORPHAN_S)
            else:
                self.stop(slot)

    def _forget(self, slot: Slot, flight: Flight) -> None:
        flight.keep()
        if self._flights.get(slot) is flight:
            del self._flights[slot]
