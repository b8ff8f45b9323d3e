"""workspace/executeCommand. Unlike in pygls, cancelling it cancels the command, and no argument is refused unseen."""

from __future__ import annotations

import inspect
from contextvars import ContextVar
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from midfill_server.session import Session

WORK_DONE_TOKEN: ContextVar[int | str | None] = ContextVar("work_done_token", default=None)
"""The token of the command that is being carried out, if the client gave one."""


def register(server: LanguageServer, _session: Session) -> None:
    """Carry out the commands that features have registered."""

    @server.feature(types.WORKSPACE_EXECUTE_COMMAND)
    async def execute(params: types.ExecuteCommandParams) -> Any:
        handler = server.protocol.fm.commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams(f"{params.command} is unknown")
        WORK_DONE_TOKEN.set(params.work_done_token)
        result = handler(*(params.arguments or ()))
        return await result if inspect.isawaitable(result) else result
