"""From a cursor to suggestions, whatever feature of the protocol asks.

    position ─▶ snapshot ─▶ what was suggested already? ─▶ wait for the next key ─▶ engine ─▶ tidy ─▶ offers
                                     └──────────────────────────────────────────────────────▶

Knows nothing of the protocol's types. Whatever goes wrong, the answer is no offer and a line in the log.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from midfill_engine.api import FillRequest, FillResult, Limits, Mode
from midfill_server.documents import Document, DocumentStore
from midfill_server.engine_link import EngineLink
from midfill_server.exclusions import why_off
from midfill_server.positions import Encoding
from midfill_server.postprocess import Middle, Site, tidy
from midfill_server.scheduler import Scheduler, Slot
from midfill_server.settings import Settings
from midfill_server.snapshot import Snapshot, take
from midfill_server.status import StatusLine
from midfill_server.suggestions import Suggestion, SuggestionCache

logger = logging.getLogger(__name__)

PATIENCE_IF_INVOKED = 3
INLINE = "inline"


@dataclass(frozen=True, kw_only=True)
class Ask:
    """Who asks for what. `is_invoked`: somebody pressed a key for it. `line` and `character` are the client's."""

    uri: str
    line: int
    character: int
    is_invoked: bool = False
    feature: str = INLINE
    request_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A text for columns `start` to `end`, in code points, of one line; `line` is that line's text."""

    text: str
    row: int
    start: int
    end: int
    line: str


@dataclass(frozen=True, kw_only=True)
class Completer:
    """Everything of one client that a completion needs."""

    documents: DocumentStore
    engine: EngineLink
    scheduler: Scheduler
    suggestions: SuggestionCache
    status: StatusLine
    encoding: Encoding
    settings: Callable[[], Settings]
    client: str

    async def complete(self, ask: Ask) -> tuple[Offer, ...]:
        """What to offer. Raises CancelledError only when the caller itself is cancelled."""
        document = self.documents.get(ask.uri)
        settings = self.settings()
        if document is None or not self._is_on(document, settings):
            return ()
        slot = Slot(ask.uri, ask.feature)
        snapshot = take(document, ask.line, ask.character, self.encoding)
        known = self.suggestions.find(snapshot, is_full=ask.is_invoked)
        offers = _offers(tidy_all(known, snapshot), snapshot)
        if offers:
            self.scheduler.supersede(slot)
            return offers
        return await self._ask_engine(ask, slot, snapshot, settings)

    def _is_on(self, document: Document, settings: Settings) -> bool:
        reason = why_off(document.uri, document.language, settings)
        self.status.show_inactive(reason)
        return not reason

    async def _ask_engine(self, ask: Ask, slot: Slot, snapshot: Snapshot, settings: Settings) -> tuple[Offer, ...]:
        request = fill_request(ask, snapshot, settings, self.client)
        pause_s = 0.0 if ask.is_invoked else settings.debounce_ms / 1000
        try:
            result = await self.scheduler.latest(slot, self._fill(request, pause_s))
        except Exception:
            logger.exception("%s: failed", ask.request_id)
            return ()
        if result is None or not self._is_current(snapshot):
            return ()
        _log(ask, result)
        middles = tidy_all((candidate.text for candidate in result.candidates), snapshot)
        if middles:
            self.suggestions.keep(Suggestion(snapshot, middles, is_full=ask.is_invoked))
        return _offers(middles, snapshot)

    async def _fill(self, request: FillRequest, pause_s: float) -> FillResult | None:
        await asyncio.sleep(pause_s)
        return await self.engine.fill(request)

    def _is_current(self, snapshot: Snapshot) -> bool:
        document = self.documents.get(snapshot.uri)
        return document is not None and document.version == snapshot.version


def client_name() -> str:
    """A name for this process that no other has."""
    return f"lsp-{os.getpid()}-{secrets.token_hex(4)}"


def fill_request(ask: Ask, snapshot: Snapshot, settings: Settings, client: str) -> FillRequest:
    """What the engine is asked. Inside a line only the line is filled, whatever the settings say."""
    site = Site(snapshot.prefix, snapshot.suffix)
    deadline_s = settings.deadline_ms / 1000 * (PATIENCE_IF_INVOKED if ask.is_invoked else 1)
    return FillRequest(
        prefix=snapshot.prefix,
        suffix=snapshot.suffix,
        language=snapshot.language,
        mode=settings.mode if site.only_closers_follow else Mode.LINE,
        limits=Limits(max_tokens=settings.max_tokens, deadline_s=deadline_s),
        num_candidates=settings.num_candidates if ask.is_invoked else 1,
        client=client,
        document=snapshot.uri if ask.feature == INLINE else f"{snapshot.uri}#{ask.feature}",
        request_id=ask.request_id,
    )


def tidy_all(texts: Iterable[str], snapshot: Snapshot) -> tuple[Middle, ...]:
    """What may be offered of the texts, each but once."""
    site = Site(snapshot.prefix, snapshot.suffix)
    return tuple(dict.fromkeys(middle for text in texts if (middle := tidy(text, site)) is not None))


def _offers(middles: Iterable[Middle], snapshot: Snapshot) -> tuple[Offer, ...]:
    column = snapshot.column
    return tuple(
        Offer(
            text=middle.text,
            row=snapshot.row,
            start=column,
            end=min(column + middle.num_absorbed, len(snapshot.line)),
            line=snapshot.line,
        )
        for middle in middles
    )


def _log(ask: Ask, result: FillResult) -> None:
    logger.info(
        "%s: %s after %d steps in %.0f ms, %d tokens",
        ask.request_id,
        result.finish,
        result.num_steps,
        result.timings.total * 1000,
        result.num_tokens,
    )
    logger.debug("%s: %r", ask.request_id, result.text)
