"""From a cursor to suggestions, whatever feature of the protocol asks.

    position ─▶ snapshot ─▶ what was suggested already? ─▶ is a fill under way? ─▶ wait for the next key ─▶ engine
                                   │    ▲                          └─ join it ─▶ ┬ ◀────────────────────────┘
                                   │    └───────────── tidy, keep ◀──────────────┘
                                   └─▶ offers

Knows nothing of the protocol's types. Whatever goes wrong, the answer is no offer and a line in the log.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from midfill_engine.api import Candidate, FillResult, OnDraft
from midfill_server.again import Again
from midfill_server.arrivals import Arrivals
from midfill_server.context import Neighbours
from midfill_server.cursors import Cursors
from midfill_server.documents import Change, Document, DocumentStore
from midfill_server.engine_link import EngineLink
from midfill_server.exclusions import why_off_in
from midfill_server.flights import Flight, Flights, Ticket
from midfill_server.ignored import Ignored
from midfill_server.pace import Pace
from midfill_server.positions import Encoding
from midfill_server.postprocess import Middle, Site, tidy
from midfill_server.postprocess.vetting import vetting_of
from midfill_server.question import INLINE, Ask, Offer, Question, fill_request, log_result, log_text, offers_of, watched
from midfill_server.reach import is_quiet
from midfill_server.scheduler import Scheduler, Slot
from midfill_server.settings import Settings, SettingsFor
from midfill_server.snapshot import Snapshot, take
from midfill_server.status import StatusLine
from midfill_server.suggestions import Shown, Suggestion, SuggestionCache
from midfill_server.tally import Tally

logger = logging.getLogger(__name__)

MOST_CANDIDATES = 16
"""The engine makes no more of one question; each has a seed of its own."""


@dataclass(frozen=True, kw_only=True)
class Completer:
    """Everything of one client that a completion needs. `scheduler`: of what is done on demand."""

    documents: DocumentStore
    engine: EngineLink
    scheduler: Scheduler
    suggestions: SuggestionCache
    status: StatusLine
    encoding: Encoding
    settings: SettingsFor
    neighbours: Neighbours
    client: str
    ignored: Ignored = field(default_factory=Ignored)
    flights: Flights = field(default_factory=Flights)
    pace: Pace = field(default_factory=Pace)
    again: Again = field(default_factory=Again)
    tally: Tally = field(default_factory=Tally)
    arrivals: Arrivals = field(default_factory=Arrivals)

    async def complete(self, ask: Ask) -> tuple[Offer, ...]:
        """What to offer. Raises CancelledError only when the caller itself is cancelled."""
        began = time.perf_counter()
        document = self.documents.get(ask.uri)
        settings = self.settings(ask.uri)
        if document is None or not self._is_on(document, settings) or self.arrivals.is_outdated(ask.uri):
            return ()
        slot = Slot(ask.uri, ask.feature)
        self.flights.stop_ahead(but=slot)
        question = Question(ask=ask, slot=slot, snapshot=take(document, ask.line, ask.character, self.encoding))
        self.tally.num_asked += 1
        log_text(ask, document)
        offers = await self._answer(question, settings)
        if offers:
            self.tally.num_answered += 1
            self.tally.note_latency(time.perf_counter() - began)
        return offers

    def on_change(self, document: Document, changes: list[Change]) -> None:
        """The text of a document has changed."""
        self.arrivals.note_change(document.uri)
        self.neighbours.note(document.uri)
        self.neighbours.prepare_later()
        self.pace.note_key(time.monotonic())
        cursors = Cursors(document, changes)
        self.flights.on_change(document.uri, cursors.all)
        if self.suggestions.has(document.uri) and not why_off_in(document, self.settings(document.uri)):
            for cursor in filter(self.suggestions.is_completed, cursors.behind()):
                self._fetch_ahead(cursor)

    def focus(self, uri: str) -> None:
        """The user has turned to a document."""
        document = self.documents.get(uri)
        if document is not None:
            self.neighbours.note(uri)
            self.neighbours.prepare_later()
            self.ignored.look_later(document)
        if document is not None and self._is_on(document, self.settings(uri)):
            self.engine.warm()

    def renew(self, uri: str, line: int, character: int) -> None:
        """Have the next explicit request at this place answered with new drafts."""
        document = self.documents.get(uri)
        if document is not None:
            self.again.expect(take(document, line, character, self.encoding))

    def forget(self, uri: str | None = None) -> None:
        """Forget what was suggested, and stop what runs, for a document or for all."""
        self.flights.stop_all(uri)
        if uri is None:
            self.suggestions.clear()
        else:
            self.suggestions.forget(uri)
            self.arrivals.forget(uri)
            self.neighbours.forget(uri)
            self.ignored.forget(uri)

    def _is_on(self, document: Document, settings: Settings) -> bool:
        self.ignored.look_later(document)
        reason = why_off_in(document, settings)
        self.status.show_inactive(reason)
        return not reason

    async def _answer(self, question: Question, settings: Settings) -> tuple[Offer, ...]:
        is_invoked, snapshot = question.ask.is_invoked, question.snapshot
        is_again = is_invoked and self.again.take(snapshot)
        offers = () if is_again else self._known(question)
        if offers:
            self.flights.let_go(question.slot)
            self.flights.join(question.slot, snapshot, is_full=False)  # what was typed against is stopped
            was_ahead = self.suggestions.take_ahead(snapshot)
            self.tally.num_ahead += was_ahead
            self.tally.num_known += not was_ahead
        else:
            ticket = self.flights.ticket(question.slot)
            try:
                offers = await self._wait(question, ticket, settings, is_again)
            except asyncio.CancelledError:
                self.flights.give_up(question.slot, ticket)
                raise
        if offers and is_invoked:
            self.again.note(snapshot)
        return offers

    def _known(self, question: Question) -> tuple[Offer, ...]:
        known = self.suggestions.find(question.snapshot, is_full=question.ask.is_invoked)
        return offers_of(tidy_all(known, question.snapshot), question.snapshot)

    async def _wait(self, question: Question, ticket: Ticket, settings: Settings, is_again: bool) -> tuple[Offer, ...]:
        """The answer of the fill under way if that agrees, else of one that is begun here."""
        snapshot, is_invoked = question.snapshot, question.ask.is_invoked
        flight = None if is_again else self.flights.join(question.slot, snapshot, is_invoked)
        if flight is not None:
            was_ahead, flight.is_ahead = flight.is_ahead, False
            offers = await self._landed(question, ticket, flight)
            if offers:
                self.tally.num_ahead += was_ahead
                self.tally.num_joined += not was_ahead
            if offers or flight.has_answered(snapshot):
                return offers
        if not is_invoked and is_quiet(snapshot, settings):
            return ()
        if not is_invoked:
            await ticket.pause(self.pace.pause_s(settings.debounce_s))
        if ticket.is_void:
            return ()
        return await self._landed(question, ticket, self._start(question, settings, is_again))

    async def _landed(self, question: Question, ticket: Ticket, flight: Flight) -> tuple[Offer, ...]:
        """What there is to offer when the fill has ended; nothing if the request has become useless."""
        await ticket.wait_for(flight)
        return () if ticket.is_void or not self._is_current(question.snapshot) else self._known(question)

    def _start(self, question: Question, settings: Settings, is_again: bool = False, is_ahead: bool = False) -> Flight:
        """Have the engine asked; what it says goes to the suggestions."""
        ask, snapshot = question.ask, question.snapshot
        shown = self.suggestions.shown_at(snapshot) if is_again else Shown()
        request = fill_request(ask, snapshot, settings, self.client)
        num_candidates = min(request.num_candidates + len(shown.middles), MOST_CANDIDATES)
        snippets = self.neighbours.snippets(snapshot.uri, snapshot.row)
        request = replace(request, snippets=snippets, seed=shown.seed, num_candidates=num_candidates)
        self.tally.num_fills += 1
        self.tally.num_fills_ahead += is_ahead

        async def work(on_draft: OnDraft) -> None:
            try:
                result = await self.engine.fill(request, watched(on_draft, ask, snapshot, request.mode))
            except Exception:
                logger.exception("%s: failed", ask.request_id)
                return
            if result is not None:
                log_result(ask, result)
                self.pace.note_fill(result.timings.total)
                self._keep(question, result, shown, flight.is_ahead)

        flight = Flight(snapshot, work, is_full=ask.is_invoked, is_ahead=is_ahead)
        return self.flights.start(question.slot, flight)

    def _keep(self, question: Question, result: FillResult, shown: Shown, is_ahead: bool) -> None:
        snapshot, is_full = question.snapshot, question.ask.is_invoked
        offered, spares = (
            (result.candidates, result.spares) if is_full else _sure_and_not(result, self.settings(snapshot.uri))
        )
        vetting = vetting_of(snapshot, (*offered, *spares))
        found = vetting.all_repaired(tidy_all(_texts(offered), snapshot))
        middles = vetting.good_first(found) if is_full else vetting.first_good(found)
        others = vetting.all_repaired(tidy_all(_texts(spares), snapshot))
        held_back = tuple(middle for middle in (*found, *others) if middle not in middles)
        middles = (*(middle for middle in middles if middle not in shown.middles), *shown.middles)
        if middles or held_back:
            seed = shown.seed + MOST_CANDIDATES
            kept = Suggestion(snapshot, middles, is_full=is_full, seed=seed, is_ahead=is_ahead, spares=held_back)
            self.suggestions.keep(replace(kept, is_good=vetting.is_good))

    def _fetch_ahead(self, snapshot: Snapshot) -> None:
        """A suggestion has been accepted: what comes after it is likely to be asked for next."""
        slot, settings = Slot(snapshot.uri, INLINE), self.settings(snapshot.uri)
        if self.suggestions.find(snapshot) or self.flights.join(slot, snapshot, is_full=False) is not None:
            return
        if is_quiet(snapshot, settings):
            return
        ask = Ask(uri=snapshot.uri, line=snapshot.row, character=snapshot.column, request_id="in advance")
        self._start(Question(ask=ask, slot=slot, snapshot=snapshot), settings, is_ahead=True)

    def _is_current(self, snapshot: Snapshot) -> bool:
        document = self.documents.get(snapshot.uri)
        return document is not None and document.version == snapshot.version


def client_name() -> str:
    """A name for this process that no other has."""
    return f"lsp-{os.getpid()}-{secrets.token_hex(4)}"


def tidy_all(texts: Iterable[str], snapshot: Snapshot) -> tuple[Middle, ...]:
    """What may be offered of the texts, each but once."""
    site = Site(snapshot.prefix, snapshot.suffix)
    return tuple(dict.fromkeys(middle for text in texts if (middle := tidy(text, site)) is not None))


def _sure_and_not(result: FillResult, settings: Settings) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """Drafts that are sure enough to be shown unasked, and the others."""
    drafts = (*result.candidates, *result.spares)
    sure = tuple(draft for draft in drafts if draft.confidence >= settings.min_confidence)
    return sure, tuple(draft for draft in drafts if draft not in sure)


def _texts(candidates: Iterable[Candidate]) -> Iterable[str]:
    return (candidate.text for candidate in candidates)
