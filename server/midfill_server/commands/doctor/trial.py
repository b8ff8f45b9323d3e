"""A fill by the engine process, as an editor would ask for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from midfill_engine import api
from midfill_engine.api import EngineError, FillRequest, FillResult, Limits, Mode
from midfill_server.commands.doctor.finding import Case, Finding, Level

TOPIC = "trial"
PREFIX = "def add(first, second):\n    return first"
LIMITS = Limits(max_tokens=24, deadline_s=60.0)
NUM_FILLS = 3


def check(case: Case) -> Iterator[Finding]:
    """Load the model unless an engine has it, and fill a few times. An engine that was not there before is stopped."""
    if case.is_quick:
        return
    try:
        yield asyncio.run(_trial(case))
    except EngineError as error:
        remedy = f"midfill engine start --preset {case.options.preset} --device {case.options.device}"
        yield Finding(topic=TOPIC, told=str(error), level=Level.BROKEN, remedy=remedy)


async def _trial(case: Case) -> Finding:
    pids = {status.pid for status in await api.engine_statuses(case.options)}
    began = time.perf_counter()
    status = await api.start_engine(case.options)
    load_s = time.perf_counter() - began
    engine = api.connect(case.options)
    try:
        results = [await engine.fill(_request(number)) for number in range(NUM_FILLS)]
    finally:
        await engine.aclose()
        if status.pid not in pids:
            await api.stop_engine(case.options)
    return _told(results, load_s if status.pid not in pids else None, status.device)


def _request(number: int) -> FillRequest:
    return FillRequest(
        prefix=PREFIX[: len(PREFIX) - number], suffix="\n", language="python", mode=Mode.LINE, limits=LIMITS
    )


def _told(results: list[FillResult], load_s: float | None, device: str) -> Finding:
    loaded = "an engine was running" if load_s is None else f"engine and model started in {load_s:.1f} s"
    quickest = min(result.timings.total for result in results)
    texts = [result.text for result in results if result.text]
    told = f"{loaded} on {device}; a line in {quickest * 1000:.0f} ms, such as {(texts or [''])[0]!r}"
    if texts:
        return Finding(topic=TOPIC, told=told)
    return Finding(
        topic=TOPIC, told=f"{told}: nothing came out", level=Level.BROKEN, remedy="midfill engine stop --all"
    )
