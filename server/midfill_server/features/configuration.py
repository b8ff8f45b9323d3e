"""workspace/didChangeConfiguration and workspace/configuration: settings pushed, or pulled, or both.

Neovim and Helix push theirs at the start, VS Code pushes the section, others push null and expect to be asked. What is
taken holds from the next request on.
"""

from __future__ import annotations

import asyncio
import logging

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from midfill_server.logs import set_level
from midfill_server.session import Session
from midfill_server.settings import SECTION

logger = logging.getLogger(__name__)

PATIENCE_S = 30.0


def register(server: LanguageServer, session: Session) -> None:
    """Keep the settings of `session`."""

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        if session.facts.has_configuration:
            await _pull(server, session)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        if not await _take(params.settings, session) and session.facts.has_configuration:
            await _pull(server, session)


async def _pull(server: LanguageServer, session: Session) -> None:
    item = types.ConfigurationItem(section=SECTION)
    try:
        async with asyncio.timeout(PATIENCE_S):
            answers = await server.workspace_configuration_async(types.ConfigurationParams([item]))
    except Exception as error:
        logger.warning("the client did not tell its settings: %s", type(error).__name__)
        return
    if answers:
        await _take(answers[0], session)


async def _take(raw: object, session: Session) -> bool:
    before = session.settings.current
    has_said_something = session.settings.configure(raw)
    settings = session.settings.current
    if settings != before:
        session.completer.suggestions.clear()
        set_level(settings.log_level)
        await session.engine.use(settings.engine_options)
    return has_said_something
