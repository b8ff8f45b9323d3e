"""textDocument/codeAction and codeAction/resolve: what can be asked for, in the editor's own menu.

Editors ask at every move of the cursor, to know whether to show a light bulb: an answer costs a look at the text. The
model is asked when an action is chosen: by codeAction/resolve where the client does that, else by the action's command.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from midfill_server.capabilities import ACTION_KINDS, EDITING
from midfill_server.documents import Document, Span
from midfill_server.exclusions import why_off_in
from midfill_server.features.commands import perform
from midfill_server.features.edits import edit_of, range_of_place
from midfill_server.features.progress import Bars
from midfill_server.ondemand.menu import Item, menu
from midfill_server.ondemand.order import parse_order
from midfill_server.ondemand.place import place_of
from midfill_server.ondemand.task import NothingToDo
from midfill_server.session import Session

logger = logging.getLogger(__name__)

Action = types.CodeAction | types.Command


def register(server: LanguageServer, session: Session, bars: Bars) -> None:
    """Offer what can be asked for."""
    options = types.CodeActionOptions(code_action_kinds=ACTION_KINDS, resolve_provider=True)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    def code_action(params: types.CodeActionParams) -> list[Action]:
        document = session.documents.get(params.text_document.uri)
        if document is None or why_off_in(document, session.settings_for(document.uri)):
            return []
        items = [item for item in _items(document, params, session) if _is_wanted(item.kind, params.context.only)]
        return [_action(item, _argument(document, item, params.range, session), session) for item in items]

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        try:
            action.edit = await _edit(action.data, server, session, bars)
        except (NothingToDo, asyncio.CancelledError):
            pass
        except Exception:
            logger.exception("%s failed", action.title)
        return action


def _items(document: Document, params: types.CodeActionParams, session: Session) -> Sequence[Item]:
    start, end = params.range.start, params.range.end
    place = place_of(document.lines, Span(start.line, start.character, end.line, end.character), session.facts.encoding)
    is_invoked = params.context.trigger_kind is not types.CodeActionTriggerKind.Automatic
    has_draft = session.desk.last_made(document, place) is not None
    return list(menu(document, place, is_invoked=is_invoked, has_draft=has_draft))


def _is_wanted(kind: str, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Kinds are a tree: who wants `refactor` wants `refactor.rewrite` too."""
    wanted = [str(getattr(each, "value", each)) for each in only or [""]]
    return any(each in ("", kind) or kind.startswith(f"{each}.") for each in wanted)


def _argument(document: Document, item: Item, asked: types.Range, session: Session) -> dict[str, Any]:
    argument: dict[str, Any] = {"textDocument": {"uri": document.uri, "version": document.version}}
    if item.is_whole:
        return argument
    span = range_of_place(document.lines, item.place, session.facts.encoding) if item.place else asked
    start, end = ({"line": at.line, "character": at.character} for at in (span.start, span.end))
    return argument | {"range": {"start": start, "end": end}}


def _action(item: Item, argument: dict[str, Any], session: Session) -> Action:
    command = types.Command(title=item.title, command=item.command, arguments=[argument])
    if not session.facts.has_action_literals:
        return command
    action = types.CodeAction(title=item.title, kind=item.kind)
    if item.is_immediate or not session.facts.resolves_actions:
        action.command = command
    else:
        action.data = {"command": item.command, "argument": argument}
    return action


async def _edit(data: object, server: LanguageServer, session: Session, bars: Bars) -> types.WorkspaceEdit | None:
    command = data.get("command") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or command not in EDITING:
        return None
    order = parse_order((data.get("argument"),))
    outcome = await perform(command, order, server, session, bars)
    return edit_of(outcome, order.uri, session.facts) if outcome.replacements else None
