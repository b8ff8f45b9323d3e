"""didOpen, didChange, didClose: the documents as the client has them.

A document that is served has the engine started in the background, so that the first suggestion does not wait for it.
"""

from __future__ import annotations

import logging

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from midfill_server.documents import Document, Edit, Span
from midfill_server.exclusions import why_off_in
from midfill_server.session import Session

logger = logging.getLogger(__name__)


def register(server: LanguageServer, session: Session) -> None:
    """Keep the documents of `session`."""
    scheduler, completer = session.completer.scheduler, session.completer
    memory = session.desk.memory

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        scheduler.supersede_all(item.uri)
        completer.forget(item.uri)
        memory.forget(item.uri)
        document = session.documents.open(item.uri, item.language_id, item.version, item.text)
        if document is not None:
            _warm_engine(document, session)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        document = session.documents.get(params.text_document.uri)
        if document is None:
            logger.info("a change of a document that is not open")
            return
        scheduler.supersede_all(document.uri)
        edits = [_edit(change) for change in params.content_changes]
        changes = document.apply(edits, params.text_document.version, session.facts.encoding)
        memory.note(document.uri, changes, document.lines)
        session.statistics.on_change(document.uri, changes)
        completer.on_change(document, changes)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        scheduler.supersede_all(uri)
        session.statistics.on_close(uri)
        completer.forget(uri)
        memory.forget(uri)
        session.documents.close(uri)


def _warm_engine(document: Document, session: Session) -> None:
    if not why_off_in(document, session.settings.current):
        session.engine.warm()


def _edit(change: types.TextDocumentContentChangeEvent) -> Edit:
    if isinstance(change, types.TextDocumentContentChangePartial):
        start, end = change.range.start, change.range.end
        return Edit(change.text, Span(start.line, start.character, end.line, end.character))
    return Edit(change.text)
