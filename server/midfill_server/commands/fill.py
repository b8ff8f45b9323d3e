"""`midfill fill`: one hole in one text.

arguments → source → hole → FillRequest → engine → FillResult → output (middle, whole text, JSON or the file itself)
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress

from midfill_engine.api import Engine, EngineOptions, EngineState, FillRequest, FillResult, Limits, Mode
from midfill_server.commands import output
from midfill_server.commands.engines import Doors, engine_for
from midfill_server.commands.errors import UsageError
from midfill_server.commands.fill_arguments import FillArguments, parse
from midfill_server.commands.hole import Hole, hole_at, hole_at_marker, parse_position
from midfill_server.commands.languages import language_of
from midfill_server.commands.replace import check_writable
from midfill_server.commands.source import Source, read_source
from midfill_server.commands.views import View, choose_loading_view, choose_watching_view

SHOW_LOADING_AFTER_S = 0.5
STATUS_EVERY_S = 0.1


def main(argv: Sequence[str], doors: Doors | None = None) -> int:
    """Everything the user got wrong is told before an engine is opened."""
    arguments = parse(argv)
    # What goes wrong is told once, in one line, by whoever ends the command.
    logging.getLogger("midfill_engine").addHandler(logging.NullHandler())
    output.check_stdout(arguments)
    source = read_source(arguments.file)
    hole = find_hole(source.text, arguments)
    if arguments.apply:
        check_writable(source)
    request = make_request(source, hole, arguments)
    view = choose_watching_view(hole) if arguments.watch else choose_loading_view()
    result = asyncio.run(_fill(request, arguments, doors or Doors(), view))
    output.put(result, source, hole, arguments)
    return 0


def find_hole(text: str, arguments: FillArguments) -> Hole:
    if arguments.marker is not None:
        if arguments.to is not None:
            raise UsageError("--to goes with --at, not with --marker")
        return hole_at_marker(text, arguments.marker)
    if arguments.at is None:
        raise UsageError("say where the hole is: --at LINE:COL, or --marker TEXT for a text that stands in its place")
    end = None if arguments.to is None else parse_position(arguments.to)
    return hole_at(text, parse_position(arguments.at), end)


def make_request(source: Source, hole: Hole, arguments: FillArguments) -> FillRequest:
    return FillRequest(
        prefix=hole.prefix,
        suffix=hole.suffix,
        selection=hole.selection,
        language=arguments.language or language_of(source.path),
        mode=Mode(arguments.mode),
        limits=Limits(max_tokens=arguments.max_tokens),
        num_candidates=arguments.candidates,
        seed=arguments.seed,
        temperature=arguments.temperature,
    )


async def _fill(request: FillRequest, arguments: FillArguments, doors: Doors, view: View) -> FillResult:
    options = EngineOptions(
        preset=arguments.preset, device=arguments.device or "auto", num_threads=arguments.threads or 0
    )
    # A running engine has its device and threads already; who names them wants just those.
    is_local = arguments.no_engine or arguments.device is not None or arguments.threads is not None
    async with engine_for(options, doors, is_local=is_local) as engine:
        return await _fill_and_show(engine, request, view)


async def _fill_and_show(engine: Engine, request: FillRequest, view: View) -> FillResult:
    telling = asyncio.create_task(_tell_loading(engine, view))
    try:
        result = await engine.fill(request, view.on_draft if view.wants_drafts else None)
        view.on_result(result)
        return result
    finally:
        telling.cancel()
        view.close()


async def _tell_loading(engine: Engine, view: View) -> None:
    await asyncio.sleep(SHOW_LOADING_AFTER_S)
    with suppress(Exception):  # whatever is wrong with the engine is the fill's to tell
        while (status := await engine.status()).state is EngineState.LOADING:
            view.on_status(status)
            await asyncio.sleep(STATUS_EVERY_S)
