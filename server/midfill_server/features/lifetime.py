"""shutdown and exit: the process ends at once, whatever is running.

A client that says shutdown and then forgets to say exit is not waited for long.
"""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from midfill_server.leaving import leave, leave_soon
from midfill_server.session import Session


def register(server: LanguageServer, session: Session) -> None:
    """End with the client."""

    @server.feature(types.SHUTDOWN)
    def on_shutdown(_params: None) -> None:
        leave_soon(0)
        session.statistics.close()

    @server.feature(types.EXIT)
    def on_exit(_params: None) -> None:
        leave(0 if server.protocol._shutdown else 1)
