"""didOpen, didChange, didClose: the documents as the client has them.

A document that is served has the engine started in the background, so that the first suggestion does not wait for it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from midfill_server.documents import Document, Edit, Span
from midfill_server.exclusions import why_off_in
from midfill_server.session import Session

logger = logging.getLogger(__name__)


def register(server: LanguageServer, session: Session) -> None:
    """Keep the documents of `session`."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        opened(params.text_document, session)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        changed(params.text_document, params.content_changes, session)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        closed(params.text_document.uri, session)


def opened(item: types.TextDocumentItem, session: Session) -> None:
    """Keep a document, if its kind is served."""
    _forget(item.uri, session)
    document = session.documents.open(item.uri, item.language_id, item.version, item.text)
    if document is not None:
        session.completer.neighbours.note(document.uri)
        session.completer.neighbours.prepare_later()
        session.completer.ignored.look(document)
        _warm_engine(document, session)


def changed(
    identifier: types.VersionedTextDocumentIdentifier,
    content_changes: Iterable[types.TextDocumentContentChangeEvent],
    session: Session,
) -> None:
    """Keep up with a document."""
    document = session.documents.get(identifier.uri)
    if document is None:
        logger.info("a change of a document that is not open")
        return
    session.completer.scheduler.supersede_all(document.uri)
    changes = document.apply([_edit(change) for change in content_changes], identifier.version, session.facts.encoding)
    session.desk.memory.note(document.uri, changes, document.lines)
    session.statistics.on_change(document.uri, changes)
    session.completer.on_change(document, changes)


def closed(uri: str, session: Session) -> None:
    """Forget a document."""
    session.statistics.on_close(uri)
    _forget(uri, session)
    session.documents.close(uri)


def _forget(uri: str, session: Session) -> None:
    session.completer.scheduler.supersede_all(uri)
    session.completer.forget(uri)
    session.desk.memory.forget(uri)


def _warm_engine(document: Document, session: Session) -> None:
    if not why_off_in(document, session.settings_for(document.uri)):
        session.engine.warm()


def _edit(change: types.TextDocumentContentChangeEvent) -> Edit:
    if isinstance(change, types.TextDocumentContentChangePartial):
        start, end = change.range.start, change.range.end
        return Edit(change.text, Span(start.line, start.character, end.line, end.character))
    return Edit(change.text)
