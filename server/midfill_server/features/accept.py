"""The command `midfill.didAccept`: an editor runs it after a suggestion was accepted. It is counted, here only."""

from __future__ import annotations

import logging
from typing import Any

from pygls.lsp.server import LanguageServer

from midfill_server.capabilities import DID_ACCEPT
from midfill_server.session import Session

logger = logging.getLogger(__name__)


def register(server: LanguageServer, session: Session) -> None:
    """Count what was accepted."""

    @server.command(DID_ACCEPT)
    def did_accept(*arguments: Any) -> None:
        session.counts.num_accepted += 1
        logger.info("accepted %s", arguments[0] if arguments else "")
