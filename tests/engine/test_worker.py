"""The model's thread: who is answered what, in which order, and what a failure leaves behind."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from midfill_engine.api import (
    Draft,
    EngineError,
    EngineOptions,
    EngineState,
    EngineUnavailable,
    FillRequest,
    Finish,
    Limits,
    ResourceError,
    WeightsError,
)
from midfill_engine.core import FillCore, Load, OnProgress
from midfill_engine.local import LocalEngine
from midfill_engine.worker import Worker
from support.scripted import PATIENCE_S, Answer, Gate, ScriptedCore


def loading(core: FillCore) -> Load:
    return lambda _options, _on_progress: core


@asynccontextmanager
async def worker_of(load: Load | ScriptedCore, retry_after_s: float = 60.0) -> AsyncIterator[Worker]:
    load = loading(load) if isinstance(load, ScriptedCore) else load
    worker = Worker(EngineOptions(), load, retry_after_s)
    async with asyncio.timeout(PATIENCE_S):
        try:
            yield worker
        finally:
            worker.close()
            assert await asyncio.to_thread(worker.join)


def ask(text: str = "", client: str = "a", document: str = "", **fields: object) -> FillRequest:
    return FillRequest(prefix=text, client=client, document=document, **fields)  # type: ignore[arg-type]


async def reached(core: ScriptedCore, num_steps: int) -> None:
    await asyncio.to_thread(core.wait_for_steps, num_steps)


def start(worker: Worker, request: FillRequest) -> asyncio.Task[Finish]:
    async def finish() -> Finish:
        return (await worker.fill(request)).finish

    return asyncio.create_task(finish())


async def queued(worker: Worker, num_waiting: int) -> None:
    """The tasks that were just started have put their requests into the queue."""
    for _ in range(num_waiting + 1):
        await asyncio.sleep(0)


async def test_drafts_arrive_in_order_on_the_callers_loop_before_the_result() -> None:
    drafts: list[Draft] = []
    threads: set[int] = set()

    def keep(draft: Draft) -> None:
        drafts.append(draft)
        threads.add(threading.get_ident())

    core = ScriptedCore([Answer(text="a b c d", num_steps=4)])
    async with worker_of(core) as worker:
        result = await worker.fill(ask(), keep)
    assert [draft.step for draft in drafts] == [1, 2, 3, 4]
    assert drafts[-1].text == result.text == "a b c d"
    assert threads == {threading.get_ident()}
    assert core.threads.isdisjoint(threads)


async def test_one_thread_loads_and_fills() -> None:
    core, loaders = ScriptedCore(), []

    def load(_options: EngineOptions, _on_progress: OnProgress) -> FillCore:
        loaders.append(threading.get_ident())
        return core

    async with worker_of(load) as worker:
        await asyncio.gather(*(worker.fill(ask(client=client)) for client in "abc"))
    assert set(loaders) == core.threads
    assert len(loaders) == 1


@pytest.mark.parametrize("before_step", [1, 3])
async def test_a_cancelled_fill_runs_no_further_step(before_step: int) -> None:
    core = ScriptedCore([Answer(num_steps=5, gate=Gate(before_step))])
    async with worker_of(core) as worker:
        task = start(worker, ask())
        await asyncio.to_thread(core.wait_for_requests, 1)
        await reached(core, before_step - 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await worker.fill(ask("next"))
    assert core.num_steps == before_step - 1 + 3


async def test_a_fill_that_is_cancelled_while_it_waits_never_begins() -> None:
    gate = Gate()
    core = ScriptedCore([Answer(gate=gate)])
    async with worker_of(core) as worker:
        first, second = start(worker, ask("first")), start(worker, ask("second"))
        await asyncio.to_thread(core.wait_for_requests, 1)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        gate.open()
        assert await first is Finish.COMPLETE
    assert [request.prefix for request in core.requests] == ["first"]


async def test_of_one_client_and_document_only_the_newest_is_finished() -> None:
    gate = Gate(before_step=2)
    core = ScriptedCore([Answer(gate=gate)])
    async with worker_of(core) as worker:
        running = start(worker, ask("1", document="x"))
        await reached(core, 1)
        waiting = start(worker, ask("2", document="x"))
        assert await running is Finish.SUPERSEDED
        others = [start(worker, ask("3", document="y")), start(worker, ask("4", client="b", document="x"))]
        assert await asyncio.gather(waiting, *others) == [Finish.COMPLETE] * 3
    assert core.num_steps == 1 + 3 * 3


async def test_an_overtaken_request_that_waits_is_answered_at_once() -> None:
    gate = Gate()
    core = ScriptedCore([Answer(gate=gate)])
    async with worker_of(core) as worker:
        running = start(worker, ask("1", client="b"))
        await asyncio.to_thread(core.wait_for_requests, 1)
        old = start(worker, ask("2", document="x"))
        await queued(worker, 1)
        new = start(worker, ask("3", document="x"))
        assert await old is Finish.SUPERSEDED
        assert not running.done()
        gate.open()
        assert await asyncio.gather(running, new) == [Finish.COMPLETE] * 2
    assert [request.prefix for request in core.requests] == ["1", "3"]


async def test_requests_without_a_document_are_all_finished() -> None:
    core = ScriptedCore()
    async with worker_of(core) as worker:
        results = await asyncio.gather(*(worker.fill(ask(str(number))) for number in range(4)))
    assert [result.finish for result in results] == [Finish.COMPLETE] * 4


async def test_clients_take_turns() -> None:
    gate = Gate()
    core = ScriptedCore([Answer(gate=gate)])
    async with worker_of(core) as worker:
        tasks = [start(worker, ask("a0"))]
        await asyncio.to_thread(core.wait_for_requests, 1)
        tasks += [start(worker, ask(text, client=text[0])) for text in ("a1", "a2", "a3", "b1", "c1")]
        await queued(worker, 5)
        gate.open()
        await asyncio.gather(*tasks)
    assert [request.prefix for request in core.requests] == ["a0", "a1", "b1", "c1", "a2", "a3"]


async def test_a_deadline_that_passes_in_the_queue_is_told_at_once() -> None:
    gate = Gate()
    core = ScriptedCore([Answer(gate=gate)])
    async with worker_of(core) as worker:
        running = start(worker, ask("1"))
        await asyncio.to_thread(core.wait_for_requests, 1)
        assert (await worker.fill(ask("2", limits=Limits(deadline_s=0.01)))).finish is Finish.DEADLINE
        gate.open()
        await running
    assert len(core.requests) == 1


async def test_the_deadline_is_counted_from_the_arrival() -> None:
    deadlines: list[float | None] = []

    class Core(ScriptedCore):
        def fill(self, request, control):  # type: ignore[no-untyped-def]
            deadlines.append(control.deadline)
            return super().fill(request, control)

    async with worker_of(Core()) as worker:
        before = time.monotonic()
        await worker.fill(ask(limits=Limits(deadline_s=100.0)))
        after = time.monotonic()
        await worker.fill(ask())
    assert deadlines[0] is not None
    assert before <= deadlines[0] - 100.0 <= after
    assert deadlines[1] is None


@pytest.mark.parametrize(
    ("raised", "kind", "words"),
    [
        (WeightsError("no weights there"), WeightsError, "no weights there"),
        (MemoryError(), ResourceError, "memory"),
        (ValueError("odd\nlines"), EngineError, "ValueError: odd"),
    ],
)
async def test_a_failed_load_is_told_to_everybody(raised: Exception, kind: type, words: str) -> None:
    num_loads = 0

    def load(_options: EngineOptions, _on_progress: OnProgress) -> FillCore:
        nonlocal num_loads
        num_loads += 1
        raise raised

    async with worker_of(load) as worker:
        answers = await asyncio.gather(
            worker.fill(ask("1")), worker.fill(ask("2")), worker.load(), return_exceptions=True
        )
        with pytest.raises(kind, match=words):
            await worker.fill(ask("3"))
        status = worker.status()
    assert [type(answer) for answer in answers] == [kind] * 3
    assert all(words in str(answer) and "\n" not in str(answer) for answer in answers)
    assert num_loads == 1
    assert (status.state, words in status.message) == (EngineState.FAILED, True)


async def test_a_load_is_tried_again_when_the_cause_may_be_gone() -> None:
    outcomes: list[Callable[[], FillCore]] = []

    def load(_options: EngineOptions, _on_progress: OnProgress) -> FillCore:
        return outcomes.pop(0)()

    def fail() -> FillCore:
        raise ResourceError("no memory")

    outcomes += [fail, ScriptedCore]
    async with worker_of(load, retry_after_s=0.0) as worker:
        with pytest.raises(ResourceError):
            await worker.fill(ask())
        assert (await worker.fill(ask())).finish is Finish.COMPLETE
        assert worker.status().state is EngineState.READY


async def test_progress_is_told_and_seen_while_loading() -> None:
    go_on, told = threading.Event(), []

    def load(_options: EngineOptions, on_progress: OnProgress) -> FillCore:
        on_progress(0.25, "reading")
        assert go_on.wait(PATIENCE_S)
        return ScriptedCore()

    seen = asyncio.Event()

    def on_progress(share: float, message: str) -> None:
        told.append((share, message))
        seen.set()

    async with worker_of(load) as worker:
        task = asyncio.create_task(worker.load(on_progress))
        await seen.wait()
        status = worker.status()
        fill = asyncio.create_task(worker.fill(ask()))
        await queued(worker, 1)
        later = asyncio.create_task(worker.load(on_progress))
        await queued(worker, 1)
        go_on.set()
        await asyncio.gather(task, later)
        assert (await fill).timings.load > 0
        await worker.load()
    assert told == [(0.25, "reading")] * 2, "who comes later is told how far it is"
    assert (status.state, status.progress, status.message) == (EngineState.LOADING, 0.25, "reading")


async def test_an_unexpected_exception_is_logged_without_text_and_the_thread_lives_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    core = ScriptedCore([Answer(error=KeyError("secret text")), Answer(error=EngineError("plain words"))])
    caplog.set_level(logging.INFO)
    async with worker_of(core) as worker:
        with pytest.raises(EngineError, match="KeyError"):
            await worker.fill(ask("secret text", request_id="r7"))
        with pytest.raises(EngineError, match="plain words"):
            await worker.fill(ask("secret text"))
        assert (await worker.fill(ask("secret text"))).finish is Finish.COMPLETE
    assert "'r7'" in caplog.text
    assert "secret" not in caplog.text


async def test_closing_answers_everybody() -> None:
    core = ScriptedCore([Answer(gate=Gate(before_step=2))])
    async with worker_of(core) as worker:
        tasks = [start(worker, ask("running"))]
        await reached(core, 1)
        tasks.append(start(worker, ask("waiting")))
        await queued(worker, 1)
        worker.close()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        with pytest.raises(EngineUnavailable):
            await worker.fill(ask("late"))
    assert [type(outcome) for outcome in outcomes] == [EngineUnavailable] * 2
    assert core.num_steps == 1


async def test_timings_and_counts_add_up() -> None:
    gate = Gate()
    core = ScriptedCore([Answer(gate=gate)])
    async with worker_of(core) as worker:
        first, second = (asyncio.create_task(worker.fill(ask(client=client))) for client in "ab")
        await asyncio.to_thread(core.wait_for_requests, 1)
        assert worker.status().state is EngineState.BUSY
        gate.open()
        timings = [(await task).timings for task in (first, second)]
        status = worker.status()
    for timing in timings:
        assert min(timing.load, timing.queue) >= 0
        assert timing.load + timing.queue <= timing.total
    assert (status.num_fills, status.num_steps, status.state) == (2, 6, EngineState.READY)


async def test_a_callers_loop_that_is_gone_does_not_harm_the_thread() -> None:
    core = ScriptedCore([Answer(gate=(gate := Gate()))])
    async with worker_of(core) as worker:
        abandoned = asyncio.new_event_loop()
        task = abandoned.create_task(worker.fill(ask()))
        await asyncio.to_thread(abandoned.run_until_complete, asyncio.sleep(0))
        await asyncio.to_thread(core.wait_for_requests, 1)
        task.cancel()
        await asyncio.to_thread(abandoned.run_until_complete, asyncio.gather(task, return_exceptions=True))
        abandoned.close()
        gate.open()
        assert (await worker.fill(ask())).finish is Finish.COMPLETE


async def test_the_local_engine_is_a_worker_with_a_process_around_it() -> None:
    engine = LocalEngine(EngineOptions(), loading(ScriptedCore([Answer(text="x")])))
    await engine.load()
    assert (await engine.fill(ask())).text == "x"
    status = await engine.status()
    await engine.aclose()
    assert status.pid > 0
    assert status.memory > 0
    assert status.version
