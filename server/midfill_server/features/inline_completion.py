"""textDocument/inlineCompletion: ghost text.

The answer is always a list, never null and never an error: on null Neovim keeps the ghost text it has and lets it be
accepted elsewhere, on an error VS Code opens a message box. The range is always given and lies on one line.
"""

from __future__ import annotations

import asyncio
import logging

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from midfill_server.capabilities import DID_ACCEPT
from midfill_server.features.drafts import Drawing, at_cursor
from midfill_server.positions import Point
from midfill_server.question import Ask, Offer
from midfill_server.ranges import range_of
from midfill_server.session import Session
from midfill_server.statistics import Offered

logger = logging.getLogger(__name__)


def register(server: LanguageServer, session: Session) -> None:
    """Answer with ghost text."""

    @server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())
    async def inline_completion(params: types.InlineCompletionParams) -> types.InlineCompletionList:
        is_invoked = params.context.trigger_kind is types.InlineCompletionTriggerKind.Invoked
        request_id = f"inline {server.protocol.msg_id}"
        drawing = Drawing(server, session.facts, request_id)
        ask = Ask(
            uri=params.text_document.uri,
            line=params.position.line,
            character=params.position.character,
            is_invoked=is_invoked,
            request_id=request_id,
            watch=at_cursor(drawing, session.documents) if is_invoked and session.facts.wants_drafts else None,
        )
        try:
            return types.InlineCompletionList(await _items(ask, session))
        finally:
            drawing.end()


async def _items(ask: Ask, session: Session) -> list[types.InlineCompletionItem]:
    try:
        offers = await session.completer.complete(ask)
        return [_item(offer, ask.uri, session) for offer in offers]
    except asyncio.CancelledError:
        return []  # the work has been stopped; the reply is a result all the same
    except Exception:
        logger.exception("%s: failed", ask.request_id)
        return []


def _item(offer: Offer, uri: str, session: Session) -> types.InlineCompletionItem:
    name = session.statistics.offer(Offered(uri, Point(offer.row, offer.start), offer.text))
    return types.InlineCompletionItem(
        insert_text=offer.text,
        range=range_of(offer, session.facts.encoding),
        command=types.Command(title="accepted", command=DID_ACCEPT, arguments=[name]),
    )
