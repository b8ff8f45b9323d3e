"""workspace/didChangeConfiguration and workspace/configuration: settings pushed, or pulled, or both.

Neovim and Helix push theirs at the start, VS Code pushes the section, others push null and expect to be asked. What
arrives is taken at once, in the order of the messages, so that it holds from the next request on.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from midfill_server.logs import change_log
from midfill_server.session import Session
from midfill_server.settings import SECTION

logger = logging.getLogger(__name__)


def register(server: LanguageServer, session: Session) -> None:
    """Keep the settings of `session`."""

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        if not _take(params.settings, session):
            pull(server, session)


def pull(server: LanguageServer, session: Session) -> None:
    """Ask for the settings, for everywhere and for each folder."""
    if not session.facts.has_configuration:
        return

    # Not awaited: an answer would then be taken some turns of the loop later, after the next request perhaps.
    def on_answer(answer: Future[Any]) -> None:
        error = answer.exception()
        if error is not None:
            logger.warning("the client does not tell its settings: %s", error)
        elif answer.result():
            everywhere, *scoped = answer.result()
            _take(everywhere, session, dict(zip(folders, scoped, strict=False)))

    folders = session.settings_for.folders
    items = [types.ConfigurationItem(section=SECTION, scope_uri=folder) for folder in (None, *folders)]
    params = types.ConfigurationParams(items)
    server.protocol.send_request(types.WORKSPACE_CONFIGURATION, params).add_done_callback(on_answer)


def _take(raw: object, session: Session, scoped: Mapping[str, object] | None = None) -> bool:
    """Whether anything was said. Who pushes has said all: what was said for folders before is forgotten."""
    before = session.settings.current
    has_said_something = session.settings.configure(raw)
    settings = session.settings.current
    is_scope_new = session.settings_for.scope(scoped or {}) if has_said_something or scoped else False
    if settings != before or is_scope_new:
        session.completer.forget()
        change_log(settings.log_level, settings.log_file)
        session.engine.use(settings.engine_options)
    return has_said_something
