"""What an editor tells of suggestions: shown, accepted, accepted in part. It is counted, on this machine only.

The command `midfill.didAccept` is run by any client that runs an item's command. The notifications are those of
copilot's language server; whoever sends them is understood, whoever does not is not missed.
"""

from __future__ import annotations

import logging
from typing import Any

from pygls.lsp.server import LanguageServer

from midfill_server.capabilities import DID_ACCEPT, STATS
from midfill_server.running import running
from midfill_server.session import Session
from midfill_server.stats_view import figures, markdown

logger = logging.getLogger(__name__)

DID_SHOW = "textDocument/didShowCompletion"
DID_ACCEPT_PART = "textDocument/didPartiallyAcceptCompletion"
DID_FOCUS = "textDocument/didFocus"


def register(server: LanguageServer, session: Session) -> None:
    """Count what was shown and accepted."""
    statistics = session.statistics

    @server.command(DID_ACCEPT)
    def did_accept(*arguments: Any) -> None:
        statistics.accept(_name(arguments), _length(arguments[1:2]))

    @server.command(STATS)
    def stats(*_arguments: Any) -> dict[str, Any]:
        whole = statistics.whole()
        return figures(whole) | running(session) | {"text": markdown(whole)}

    @server.feature(DID_SHOW)
    def did_show(params: Any) -> None:
        statistics.show(_name_in(params))

    @server.feature(DID_ACCEPT_PART)
    def did_accept_part(params: Any) -> None:
        statistics.accept(_name_in(params), _length((_get(params, "acceptedLength"),)))

    @server.feature(DID_FOCUS)
    def did_focus(params: Any) -> None:
        uri = _get(_get(params, "textDocument"), "uri")
        if isinstance(uri, str):
            session.completer.focus(uri)


def _name_in(params: Any) -> str:
    """The id in the command of an item."""
    arguments = _get(_get(_get(params, "item"), "command"), "arguments")
    return _name(arguments if isinstance(arguments, list | tuple) else ())


def _name(arguments: Any) -> str:
    return arguments[0] if arguments and isinstance(arguments[0], str) else ""


def _length(arguments: Any) -> int | None:
    """A number of UTF-16 code units, if there is one."""
    length = arguments[0] if arguments else None
    return length if isinstance(length, int) and not isinstance(length, bool) else None


def _get(value: Any, name: str) -> Any:
    """A field of what pygls makes of an object that the protocol does not know."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)
