"""textDocument/completion: the same suggestions for clients that have no inline completion.

The list is marked incomplete, so that the client asks again after every key and we answer from what was suggested; the
edit is explicit, because a client that guesses what to replace takes letters away.
"""

from __future__ import annotations

import asyncio
import logging
import re

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from midfill_server.capabilities import DID_ACCEPT, TRIGGER_CHARACTERS
from midfill_server.positions import Point
from midfill_server.question import Ask, Offer
from midfill_server.ranges import range_of
from midfill_server.session import Session
from midfill_server.setting_rules import Fallback
from midfill_server.statistics import Offered

logger = logging.getLogger(__name__)

FEATURE = "completion"
LONGEST_LABEL = 60
WORD_AT_END = re.compile(r"\w*\Z")


def register(server: LanguageServer, session: Session) -> None:
    """Answer with completion items."""
    options = types.CompletionOptions(trigger_characters=TRIGGER_CHARACTERS, resolve_provider=False)

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, options)
    async def completion(params: types.CompletionParams) -> types.CompletionList:
        if session.settings.current.completion_fallback is Fallback.OFF:
            return types.CompletionList(is_incomplete=False, items=[])
        ask = Ask(
            uri=params.text_document.uri,
            line=params.position.line,
            character=params.position.character,
            feature=FEATURE,
            request_id=f"completion {server.protocol.msg_id}",
        )
        return types.CompletionList(is_incomplete=True, items=await _items(ask, session))


async def _items(ask: Ask, session: Session) -> list[types.CompletionItem]:
    try:
        offers = await session.completer.complete(ask)
        return [_item(offer, ask.uri, session) for offer in offers]
    except asyncio.CancelledError:
        return []
    except Exception:
        logger.exception("%s: failed", ask.request_id)
        return []


def _item(offer: Offer, uri: str, session: Session) -> types.CompletionItem:
    word = _word_before(offer)
    name = session.statistics.offer(Offered(uri, Point(offer.row, offer.start), offer.text))
    label = (word + offer.text).strip().partition("\n")[0]
    return types.CompletionItem(
        label=label[:LONGEST_LABEL],
        kind=types.CompletionItemKind.Snippet,
        detail=_detail(offer.text),
        documentation=types.MarkupContent(types.MarkupKind.PlainText, word + offer.text),
        sort_text="!",
        filter_text=word + offer.text,
        insert_text_format=types.InsertTextFormat.PlainText,
        text_edit=types.TextEdit(range_of(offer, session.facts.encoding, len(word)), word + offer.text),
        command=types.Command(title="accepted", command=DID_ACCEPT, arguments=[name]),
    )


def _detail(text: str) -> str:
    """Where it comes from, and how much of it the label does not show."""
    num_more = text.count("\n")
    return f"midfill, {num_more} more line{'s' * (num_more > 1)}" if num_more else "midfill"


def _word_before(offer: Offer) -> str:
    """The letters left of the cursor: clients filter by them and replace them."""
    match = WORD_AT_END.search(offer.line[: offer.start])
    return match[0] if match else ""
