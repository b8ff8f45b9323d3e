"""`midfill/draft`: the block as it develops, to clients that draw it."""

from __future__ import annotations

from typing import Any

from pygls.lsp.server import LanguageServer

from midfill_engine.api import Draft, DraftToken
from midfill_server.client_facts import ClientFacts
from midfill_server.features.edits import range_of_place
from midfill_server.ondemand.desk import Sketch
from midfill_server.ondemand.drafts import DraftStream

METHOD = "midfill/draft"


class Drawing:
    """The drafts of one task: one stream for each of its holes, all ended together."""

    def __init__(self, server: LanguageServer, facts: ClientFacts, token: str) -> None:
        self._server = server
        self._facts = facts
        self._token = token
        self._streams: dict[int, DraftStream] = {}

    def show(self, sketch: Sketch) -> None:
        """A hole's draft after a step."""
        if not self._facts.wants_drafts:
            return
        stream = self._streams.get(sketch.index)
        if stream is None:
            stream = self._streams[sketch.index] = self._stream(sketch)
        stream.show(sketch.draft)

    def end(self) -> None:
        """Have everything that is drawn removed."""
        for stream in self._streams.values():
            stream.end()

    def _stream(self, sketch: Sketch) -> DraftStream:
        token = f"{self._token}/{sketch.index}" if sketch.num_holes > 1 else self._token
        place = range_of_place(sketch.document.lines, sketch.hole.place, self._facts.encoding)
        document = {"uri": sketch.document.uri, "version": sketch.document.version}
        fixed = {"token": token, "textDocument": document, "range": place}
        last_step = 0

        def send(draft: Draft | None) -> None:
            nonlocal last_step
            last_step = draft.step if draft else last_step
            tokens = _tokens(sketch, draft)
            changing = {
                "text": "".join(token["text"] for token in tokens),
                "tokens": tokens,
                "step": last_step,
                "isDone": draft is None,
            }
            self._server.protocol.notify(METHOD, fixed | changing)

        return DraftStream(send)


def _tokens(sketch: Sketch, draft: Draft | None) -> list[dict[str, Any]]:
    """What is given around the middle is as sure as can be."""
    if draft is None:
        return []
    lead, tail = (DraftToken(text=text, is_locked=True) for text in (sketch.hole.lead, sketch.hole.tail))
    tokens = (lead, *draft.tokens, tail)
    return [{"text": token.text, "isLocked": token.is_locked} for token in tokens if token.text]
