"""The commands that edit, and `midfill.models`.

The answer is always a result that says what came of it: nothing here opens a message box. The edit is applied by the
client at the server's request, or, where the client has no workspace/applyEdit, handed over in the result.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from midfill_engine import api
from midfill_server.capabilities import EDITING, MODELS
from midfill_server.features.drafts import Drawing
from midfill_server.features.edits import edit_of
from midfill_server.features.execute_command import WORK_DONE_TOKEN
from midfill_server.features.progress import Bars
from midfill_server.ondemand.desk import Outcome, Sketch
from midfill_server.ondemand.order import Order, parse_order
from midfill_server.ondemand.task import NothingToDo
from midfill_server.session import Session

logger = logging.getLogger(__name__)

STOPPED = "stopped"
FAILED = "midfill has failed here; its log says how"
NOT_APPLIED = "the editor has not put it in"
Result = dict[str, Any]


def register(server: LanguageServer, session: Session, bars: Bars) -> None:
    """Carry out what people ask for."""
    for command in EDITING:
        server.command(command)(_editing(command, server, session, bars))

    @server.command(MODELS)
    async def models(*_arguments: Any) -> list[Result]:
        current = session.settings.current.preset
        cards = await asyncio.to_thread(api.model_cards, [current])
        names = ("name", "description", "size", "licence", "fit")
        return [{name: getattr(card, name) for name in names} | {"isCurrent": card.name == current} for card in cards]


def _editing(command: str, server: LanguageServer, session: Session, bars: Bars) -> Callable[..., Awaitable[Result]]:
    async def run(*arguments: Any) -> Result:
        try:
            order = parse_order(arguments)
            outcome = await perform(command, order, server, session, bars)
            return await _result(outcome, order, server, session)
        except NothingToDo as reason:
            return _told(str(reason))
        except asyncio.CancelledError:
            return _told(STOPPED)  # the work has been stopped; the reply is a result all the same
        except Exception:
            logger.exception("%s failed", command)
            return _told(FAILED)

    return run


async def perform(
    command: str, order: Order, server: LanguageServer, session: Session, bars: Bars, token: int | str | None = None
) -> Outcome:
    """Do it, with everything there is to see meanwhile."""
    request_id = f"{command} {server.protocol.msg_id}"
    task = asyncio.current_task()
    bar = bars.start("midfill", WORK_DONE_TOKEN.get() if token is None else token, task.cancel if task else None)
    drawing = Drawing(server, session.facts, request_id)

    def watch(sketch: Sketch) -> None:
        drawing.show(sketch)
        where = f"hole {sketch.index + 1} of {sketch.num_holes}, " if sketch.num_holes > 1 else ""
        bar.report(f"{where}step {sketch.draft.step}")

    try:
        return await session.desk.perform(command, order, request_id, watch)
    finally:
        drawing.end()
        bar.end()


async def _result(outcome: Outcome, order: Order, server: LanguageServer, session: Session) -> Result:
    if outcome.is_inline and order.span is not None:
        session.completer.renew(order.uri, order.span.start_line, order.span.start_character)
        return _told("") | {"inline": True}
    if not outcome.replacements:
        return _told(outcome.message)
    edit = edit_of(outcome, order.uri, session.facts)
    result = _told(outcome.message) | {"numHoles": outcome.num_holes}
    if not session.facts.has_apply_edit:
        return result | {"edit": server.protocol._converter.unstructure(edit)}
    refusal = await _refusal(edit, outcome.title, server)
    return result | {"applied": not refusal, "message": refusal or outcome.message}


async def _refusal(edit: types.WorkspaceEdit, label: str, server: LanguageServer) -> str:
    """Have the client apply an edit; why it has not."""
    params = types.ApplyWorkspaceEditParams(edit=edit, label=label)
    try:
        answer = await server.protocol.send_request_async(types.WORKSPACE_APPLY_EDIT, params)
    except Exception as error:
        return f"{NOT_APPLIED}: {error}"
    if answer.applied:
        return ""
    return f"{NOT_APPLIED}: {answer.failure_reason}" if answer.failure_reason else NOT_APPLIED


def _told(message: str) -> Result:
    return {"applied": False, "message": message, "numHoles": 0}
