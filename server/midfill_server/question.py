"""What is asked at a cursor and what is answered, without the protocol's types: an ask, the question to the engine that
becomes of it, and offers."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from midfill_engine.api import Draft, FillRequest, FillResult, Limits, Mode, OnDraft
from midfill_server.documents import Document
from midfill_server.postprocess import Middle
from midfill_server.reach import mode_at
from midfill_server.scheduler import Slot
from midfill_server.settings import Settings
from midfill_server.snapshot import Snapshot

logger = logging.getLogger(__name__)

PATIENCE_IF_INVOKED = 3
INLINE = "inline"


@dataclass(frozen=True, kw_only=True)
class Ask:
    """Who asks for what. `is_invoked`: somebody pressed a key for it. `line` and `character` are the client's.

    `watch`: somebody wants to see a block as it develops.
    """

    uri: str
    line: int
    character: int
    is_invoked: bool = False
    feature: str = INLINE
    request_id: str = ""
    watch: Callable[[Snapshot, Draft], None] | None = None


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A text for columns `start` to `end`, in code points, of one line; `line` is that line's text."""

    text: str
    row: int
    start: int
    end: int
    line: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """A request and the text it is about."""

    ask: Ask
    slot: Slot
    snapshot: Snapshot


def fill_request(ask: Ask, snapshot: Snapshot, settings: Settings, client: str) -> FillRequest:
    """What the engine is asked."""
    deadline_s = settings.deadline_ms / 1000 * (PATIENCE_IF_INVOKED if ask.is_invoked else 1)
    return FillRequest(
        prefix=snapshot.prefix,
        suffix=snapshot.suffix,
        language=snapshot.language,
        mode=mode_at(snapshot, settings),
        limits=Limits(max_tokens=settings.max_tokens, deadline_s=deadline_s),
        num_candidates=settings.num_candidates if ask.is_invoked else 1,
        client=client,
        document=snapshot.uri if ask.feature == INLINE else f"{snapshot.uri}#{ask.feature}",
        request_id=ask.request_id,
    )


def watched(on_draft: OnDraft, ask: Ask, snapshot: Snapshot, mode: Mode) -> OnDraft:
    """Drafts of a block are shown to whoever asked, if they watch."""
    watch = ask.watch
    if watch is None or mode is Mode.LINE:
        return on_draft

    def show(draft: Draft) -> None:
        on_draft(draft)
        if mode is Mode.BLOCK or "\n" in draft.text:  # how far it reaches may be left to the engine
            watch(snapshot, draft)

    return show


def offers_of(middles: Iterable[Middle], snapshot: Snapshot) -> tuple[Offer, ...]:
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


def log_text(ask: Ask, document: Document) -> None:
    """Enough to see whether a client has the same text: who looks for a fault in that turns on debug."""
    if logger.isEnabledFor(logging.DEBUG):
        digest = hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()
        logger.debug("%s: asked about %s, version %s, sha256 %s", ask.request_id, ask.uri, document.version, digest)


def log_result(ask: Ask, result: FillResult) -> None:
    logger.info(
        "%s: %s after %d steps in %.0f ms, %d tokens",
        ask.request_id,
        result.finish,
        result.num_steps,
        result.timings.total * 1000,
        result.num_tokens,
    )
    logger.debug("%s: %r", ask.request_id, result.text)
