"""The engine processes that run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from midfill_engine import __version__, api
from midfill_engine.api import EngineState, EngineStatus
from midfill_server.commands.doctor.finding import Case, Finding, Level
from midfill_server.commands.engine import describe

TOPIC = "engines"
RESTART = "midfill engine stop --all"


def check(case: Case) -> Iterator[Finding]:
    """What each of them is doing."""
    statuses = asyncio.run(api.engine_statuses(case.options))
    if not statuses:
        yield Finding(topic=TOPIC, told="none is running; an editor starts one when it needs one")
    yield from map(_judged, statuses)


def _judged(status: EngineStatus) -> Finding:
    told = describe(status)
    if status.state is EngineState.FAILED:
        return Finding(topic=TOPIC, told=told, level=Level.BROKEN, remedy=RESTART)
    if status.version and status.version != __version__:
        told += f", of version {status.version}: no longer used, it ends by itself"
        return Finding(topic=TOPIC, told=told, level=Level.HINT, remedy=RESTART)
    return Finding(topic=TOPIC, told=told)
