"""The engine is started in the background, and its failures do no harm."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from midfill_engine.api import EngineOptions, EngineState, EngineStatus, FillRequest, Limits, OnLoad
from midfill_engine.errors import EngineUnavailable, PresetError, ResourceError
from midfill_server.engine_link import EngineDoor, EngineLink, Load
from midfill_server.status import Kind, Status
from support.scripted import PATIENCE_S, Answer, Gate, ScriptedEngine

READY = Status()
LOADING = Status(message="loading pocket", busy=True)


class Bench:
    """A link with a scripted engine behind it, and all that it told."""

    def __init__(self, *answers: Answer, starts: tuple[Exception | None, ...] = ()) -> None:
        self.engine = ScriptedEngine(answers)
        self.starts = deque(starts)
        self.num_starts = 0
        self.presets: list[str] = []
        self.told: list[Status] = []
        self.time = 100.0
        self.may_start = asyncio.Event()
        self.may_start.set()
        self._changed = asyncio.Condition()
        door = EngineDoor(connect=lambda options: self.engine, start=self._start)
        self.link = EngineLink(door, EngineOptions(), self.told.append, now=lambda: self.time)

    async def _start(self, options: EngineOptions, on_load: OnLoad) -> EngineStatus:
        self.num_starts += 1
        self.presets.append(options.preset)
        on_load(0.5, "half way")
        await self.may_start.wait()
        error = self.starts.popleft() if self.starts else None
        if error is not None:
            raise error
        return EngineStatus(state=EngineState.READY, preset=options.preset)

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not is_so():  # noqa: ASYNC110 - the states are plain values
                await asyncio.sleep(0.001)

    async def ready(self) -> None:
        self.link.warm()
        await self.until(lambda: self.link.is_ready)


REQUEST = FillRequest(prefix="x = ", request_id="inline 1")


async def test_requests_are_answered_with_nothing_while_the_model_is_loaded() -> None:
    """Row 30: the first request after a pause took ten seconds, and others queued up behind it."""
    bench = Bench(Answer(text="1"))
    bench.may_start.clear()
    assert await bench.link.fill(REQUEST) is None
    assert await bench.link.fill(REQUEST) is None
    assert bench.told == [LOADING]
    bench.may_start.set()
    await bench.until(lambda: bench.link.is_ready)
    result = await bench.link.fill(REQUEST)
    assert result is not None
    assert (result.text, bench.num_starts, len(bench.engine.requests)) == ("1", 1, 1)
    assert bench.told[:2] == [LOADING, READY]


async def test_an_engine_that_cannot_be_started_is_tried_again_with_growing_pauses() -> None:
    bench = Bench(starts=(PresetError("no preset of that name"), PresetError("still none"), None))
    for time, num_starts in ((100.0, 1), (100.9, 1), (101.0, 2), (102.9, 2), (103.0, 3)):
        bench.time = time
        await bench.link.fill(REQUEST)
        await bench.until(lambda: not bench.told[-1].busy)
        assert bench.num_starts == num_starts
    assert Status(Kind.ERROR, "no preset of that name") in bench.told
    assert bench.told[-1] == READY


async def test_an_engine_that_dies_is_started_again_by_the_next_request() -> None:
    bench = Bench(Answer(error=EngineUnavailable("it ended")), Answer(text="2"))
    await bench.ready()
    assert await bench.link.fill(REQUEST) is None
    assert await bench.link.fill(REQUEST) is None
    await bench.until(lambda: bench.link.is_ready)
    result = await bench.link.fill(REQUEST)
    assert result is not None
    assert (result.text, bench.num_starts) == ("2", 2)


async def test_want_of_memory_is_a_warning_and_the_engine_goes_on() -> None:
    """Row 21 (ollama#1952): out of memory once, dead for good."""
    bench = Bench(Answer(error=ResourceError("not enough memory")), Answer(text="2"))
    await bench.ready()
    assert await bench.link.fill(REQUEST) is None
    assert bench.told[-1] == Status(Kind.WARNING, "not enough memory")
    assert await bench.link.fill(REQUEST) is not None
    assert (bench.told[-1], bench.num_starts) == (READY, 1)


async def test_an_engine_that_does_not_answer_is_not_waited_for() -> None:
    gate = Gate(before_step=1)
    bench = Bench(Answer(gate=gate))
    await bench.ready()
    request = FillRequest(prefix="x", limits=Limits(deadline_s=0.01))
    assert await bench.link.fill(request) is None
    assert bench.engine.num_cancelled == 1
    assert not bench.link.is_ready


async def test_cancelling_reaches_the_engine() -> None:
    gate = Gate(before_step=2)
    bench = Bench(Answer(gate=gate))
    await bench.ready()
    task = asyncio.ensure_future(bench.link.fill(REQUEST))
    await bench.engine.wait_until(lambda engine: engine.num_steps == 1)
    task.cancel()
    await asyncio.wait((task,))
    assert (bench.engine.num_cancelled, bench.engine.num_steps) == (1, 1)


async def test_other_options_mean_another_engine() -> None:
    bench = Bench()
    await bench.ready()
    bench.link.use(EngineOptions())
    assert bench.num_starts == 1
    bench.link.use(EngineOptions(preset="other"))
    await bench.until(lambda: bench.link.is_ready)
    assert bench.presets == ["pocket", "other"]
    await bench.until(lambda: bench.engine.is_closed)


async def test_who_has_asked_for_something_waits_for_the_model_and_is_told_how_far_it_is() -> None:
    bench = Bench(Answer(text="1"))
    loads: list[Load] = []
    bench.link.on_load = loads.append
    bench.may_start.clear()
    waiting = asyncio.ensure_future(bench.link.until_ready())
    await bench.until(lambda: bench.num_starts == 1)
    assert not waiting.done()
    bench.may_start.set()
    assert await waiting == ""
    assert [(load.share, load.is_done) for load in loads] == [(0.0, False), (0.5, False), (0.0, True)]
    assert (await bench.link.demand(REQUEST)).text == "1"


async def test_who_has_asked_is_told_why_there_is_no_model_and_does_not_wait_out_the_pause() -> None:
    bench = Bench(starts=(PresetError("no preset of that name"), PresetError("still none"), None))
    assert await bench.link.until_ready() == "no preset of that name"
    assert await bench.link.until_ready() == "still none"
    assert await bench.link.until_ready() == ""


async def test_giving_up_waiting_does_not_stop_the_loading() -> None:
    bench = Bench()
    bench.may_start.clear()
    waiting = asyncio.ensure_future(bench.link.until_ready())
    await bench.until(lambda: bench.num_starts == 1)
    waiting.cancel()
    bench.may_start.set()
    await bench.until(lambda: bench.link.is_ready)
    assert waiting.cancelled()
