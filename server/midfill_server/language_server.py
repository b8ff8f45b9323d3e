"""The pygls server of one client, with every feature registered."""

from __future__ import annotations

import logging
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from midfill_engine import __version__
from midfill_server.capabilities import NAME
from midfill_server.features import (
    accept,
    code_action,
    commands,
    completion,
    configuration,
    execute_command,
    inline_completion,
    lifetime,
    notebook_sync,
    progress,
    text_sync,
    workspace,
)
from midfill_server.protocol import MidfillProtocol, make_converter
from midfill_server.session import Session

logger = logging.getLogger(__name__)


class MidfillServer(LanguageServer):
    """Reports to the log and never to the user's screen."""

    protocol: MidfillProtocol

    def report_server_error(self, error: Exception, source: Any) -> None:
        """pygls would open a message box in the editor."""
        logger.warning("%s: %s", getattr(source, "__name__", source), type(error).__name__)


def make_server(session: Session, gives_completion: bool) -> MidfillServer:
    """A server whose handlers work on `session`."""
    server = MidfillServer(
        NAME,
        __version__,
        text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
        notebook_document_sync=types.NotebookDocumentSyncOptions([types.NotebookDocumentFilterWithNotebook("*")]),
        protocol_cls=MidfillProtocol,
        converter_factory=make_converter,
    )
    server.protocol.on_arrival = session.completer.arrivals.note_message
    for upkeep in (lifetime, text_sync, notebook_sync, configuration, workspace):
        upkeep.register(server, session)
    for feature in (inline_completion, execute_command, accept):
        feature.register(server, session)
    bars = progress.register(server, session)
    commands.register(server, session, bars)
    code_action.register(server, session, bars)
    if gives_completion:
        completion.register(server, session)
    return server
