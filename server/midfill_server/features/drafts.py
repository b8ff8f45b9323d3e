"""`midfill/draft`: the block as it develops, to clients that draw it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pygls.lsp.server import LanguageServer

from midfill_engine.api import Draft, DraftToken
from midfill_server.client_facts import ClientFacts
from midfill_server.documents import Document, DocumentStore
from midfill_server.features.edits import range_of_place
from midfill_server.ondemand.desk import Sketch
from midfill_server.ondemand.drafts import DraftStream
from midfill_server.ondemand.place import Place
from midfill_server.ondemand.task import Hole
from midfill_server.positions import Point, without_eol
from midfill_server.snapshot import Snapshot

METHOD = "midfill/draft"


class Drawing:
    """The drafts of one task: one stream for each of its holes, all ended together."""

    def __init__(self, server: LanguageServer, facts: ClientFacts, token: str) -> None:
        self._server = server
        self._facts = facts
        self._token = token
        self._streams: dict[int, DraftStream] = {}
        self._is_ended = False

    def show(self, sketch: Sketch) -> None:
        """A hole's draft after a step."""
        if not self._facts.wants_drafts or self._is_ended:
            return
        stream = self._streams.get(sketch.index)
        if stream is None:
            stream = self._streams[sketch.index] = self._stream(sketch)
        stream.show(sketch.draft)

    def end(self) -> None:
        """Have everything that is drawn removed; nothing is drawn any more."""
        self._is_ended = True
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


def at_cursor(drawing: Drawing, documents: DocumentStore) -> Callable[[Snapshot, Draft], None]:
    """Draws where ghost text is going to stand, as long as the text is the one it is made for."""

    def show(snapshot: Snapshot, draft: Draft) -> None:
        document, at = documents.get(snapshot.uri), Point(snapshot.row, snapshot.column)
        if document is None or not _is_text_of(document, snapshot):
            drawing.end()
        else:
            hole = Hole(place=Place(at, at))
            drawing.show(Sketch(document=document, hole=hole, index=0, num_holes=1, draft=draft))

    return show


def _is_text_of(document: Document, snapshot: Snapshot) -> bool:
    """By its version, and by the line for clients that count none."""
    lines = document.lines[snapshot.row : snapshot.row + 1]
    return document.version == snapshot.version and [without_eol(line) for line in lines] == [snapshot.line]


def _tokens(sketch: Sketch, draft: Draft | None) -> list[dict[str, Any]]:
    """What is given around the middle is as sure as can be."""
    if draft is None:
        return []
    lead, tail = (DraftToken(text=text, is_locked=True) for text in (sketch.hole.lead, sketch.hole.tail))
    tokens = (lead, *draft.tokens, tail)
    return [{"text": token.text, "isLocked": token.is_locked} for token in tokens if token.text]
