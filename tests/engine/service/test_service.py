"""Clients and a real engine process with a scripted model: sharing, streaming, cancelling, and the process's death."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from midfill_engine.api import (
    Draft,
    EngineError,
    EngineOptions,
    EngineState,
    EngineUnavailable,
    FillResult,
    Finish,
    PresetError,
    ResourceError,
    WeightsError,
)
from midfill_engine.service import fleet
from midfill_engine.service.client import ServiceEngine
from midfill_engine.service.places import places_of
from support.scripted import PATIENCE_S, POLL_S
from support.scripted_process import scripted_command, scripted_request

from .conftest import Connect


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is so, or fail."""
    async with asyncio.timeout(PATIENCE_S):
        while not await is_so():  # noqa: ASYNC110 - what it waits for is in another process
            await asyncio.sleep(POLL_S)


async def held(engine: ServiceEngine, hold_before: int = 3, **fields: object) -> asyncio.Task[FillResult]:
    """A fill that has run up to before that step and stands still there."""
    reached = asyncio.Event()

    def on_draft(draft: Draft) -> None:
        if draft.step == hold_before - 1:
            reached.set()

    request = scripted_request(num_steps=9, hold_before=hold_before, **fields)
    task = asyncio.create_task(engine.fill(request, on_draft))
    waiting = asyncio.create_task(reached.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    assert not task.done(), task.result()
    return task


async def test_two_clients_share_one_process(connect: Connect, options: EngineOptions, tmp_path: Path) -> None:
    command = scripted_command(starts=tmp_path / "starts")
    one, two = connect(command), connect(command)
    results = await asyncio.gather(
        one.fill(scripted_request("first", client="one")), two.fill(scripted_request("second", client="two"))
    )
    assert [result.text for result in results] == ["first", "second"]
    assert (await one.status()).pid == (await two.status()).pid
    assert len((tmp_path / "starts").read_text().split()) == 1
    assert [status.num_fills for status in await fleet.statuses(options)] == [2]


async def test_drafts_arrive_in_order_while_the_fill_runs(connect: Connect, tmp_path: Path) -> None:
    go_on, drafts = tmp_path / "go", list[Draft]()
    request = scripted_request("a b c d", num_steps=4, hold_before=3, until=go_on)
    two_came = asyncio.Event()

    def on_draft(draft: Draft) -> None:
        drafts.append(draft)
        if draft.step == 2:
            two_came.set()

    task = asyncio.create_task(connect().fill(request, on_draft))
    await two_came.wait()
    assert not task.done()
    go_on.touch()
    assert (await task).text == "a b c d"
    assert [draft.step for draft in drafts] == [1, 2, 3, 4]
    assert [token.is_locked for token in drafts[1].tokens] == [True, True, False, False]


async def test_a_closed_request_runs_no_further_step(connect: Connect) -> None:
    engine = connect()
    task = await held(engine, hold_before=3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await engine.fill(scripted_request(num_steps=4))
    assert (await engine.status()).num_steps == 2 + 4


async def test_a_client_that_waits_and_goes_is_not_served(connect: Connect, tmp_path: Path) -> None:
    engine, go_on = connect(), tmp_path / "go"
    running = await held(engine, until=go_on)
    waiting = asyncio.create_task(engine.fill(scripted_request(num_steps=5)))
    third = asyncio.create_task(engine.fill(scripted_request(num_steps=1)))
    await asyncio.wait({waiting}, timeout=0.05)  # whether it has arrived or not, it must not be served
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    for _ in range(3):  # by the time it has answered these, it has seen that the connection is closed
        await engine.status()
    go_on.touch()
    await asyncio.gather(running, third)
    await until(lambda: _is_idle(engine))
    assert (await engine.status()).num_steps == 9 + 1


async def _is_idle(engine: ServiceEngine) -> bool:
    return (await engine.status()).state is EngineState.READY


async def test_the_newest_of_a_document_wins_and_other_documents_are_served(connect: Connect) -> None:
    engine, window = connect(), {"client": "window"}
    old = await held(engine, document="x", **window)
    new = asyncio.create_task(engine.fill(scripted_request("new", document="x", **window)))
    others = [
        engine.fill(scripted_request("y", document="y", **window)),
        connect().fill(scripted_request("other window", document="x", client="another")),
    ]
    assert (await old).finish is Finish.SUPERSEDED
    assert [result.text for result in await asyncio.gather(new, *others)] == ["new", "y", "other window"]


async def test_clients_without_a_name_do_not_overtake_each_other(connect: Connect, tmp_path: Path) -> None:
    go_on = tmp_path / "go"
    one = await held(connect(), document="x", until=go_on)
    two = asyncio.create_task(connect().fill(scripted_request(document="x")))
    go_on.touch()
    assert [(await task).finish for task in (one, two)] == [Finish.COMPLETE] * 2


async def test_a_killed_engine_is_told_at_once_and_the_next_request_starts_another(connect: Connect) -> None:
    engine = connect()
    task = await held(engine)
    first_pid = (await engine.status()).pid
    os.kill(first_pid, signal.SIGKILL)
    with pytest.raises(EngineUnavailable, match="ended during the request"):
        await task
    assert (await engine.fill(scripted_request("again"))).text == "again"
    assert (await engine.status()).pid != first_pid


async def test_an_engine_that_was_killed_between_requests_is_replaced_unnoticed(connect: Connect) -> None:
    engine = connect()
    await engine.fill(scripted_request())
    os.kill((await engine.status()).pid, signal.SIGKILL)
    assert (await engine.fill(scripted_request("again"))).text == "again"


@pytest.mark.parametrize(
    ("kind", "cls"), [("preset", PresetError), ("weights", WeightsError), ("resource", ResourceError)]
)
async def test_a_failed_load_reaches_the_client_as_what_it_is(connect: Connect, kind: str, cls: type) -> None:
    engine = connect(scripted_command(load_error=(kind, "one line of why")))
    with pytest.raises(cls, match=r"^one line of why$"):
        await engine.fill(scripted_request())
    with pytest.raises(cls, match=r"^one line of why$"):
        await engine.load()
    status = await engine.status()
    assert (status.state, status.message) == (EngineState.FAILED, "one line of why")


async def test_a_crash_at_the_start_is_told_with_its_last_words(connect: Connect) -> None:
    with pytest.raises(EngineUnavailable, match=r"exit code 3.*no library of that name"):
        await connect(scripted_command(crash="first\nno library of that name\n")).fill(scripted_request())


async def test_a_command_that_does_not_exist_is_told(connect: Connect) -> None:
    with pytest.raises(EngineUnavailable, match="cannot be started"):
        await connect(lambda _: ["/nowhere/python"]).fill(scripted_request())


async def test_loading_shows_its_progress_and_requests_wait_for_it(connect: Connect, tmp_path: Path) -> None:
    go_on, told, seen = tmp_path / "go", list[tuple[float, str]](), asyncio.Event()
    engine = connect(scripted_command(load_until=go_on))
    fill = asyncio.create_task(engine.fill(scripted_request("patient")))

    async def is_loading() -> bool:
        try:
            return (await engine.status()).progress == 0.5
        except EngineUnavailable:
            return False

    await until(is_loading)
    assert ((await engine.status()).state, fill.done()) == (EngineState.LOADING, False)

    def on_progress(share: float, message: str) -> None:
        told.append((share, message))
        seen.set()

    load = asyncio.create_task(engine.load(on_progress))
    await seen.wait()
    go_on.touch()
    assert (await load).preset == "scripted"
    assert (await fill).text == "patient"
    assert told[0] == (0.5, "half way")


async def test_a_failed_fill_is_told_without_text_and_the_engine_lives_on(
    connect: Connect, options: EngineOptions
) -> None:
    engine = connect()
    secret = "correct horse battery staple"
    with pytest.raises(EngineError, match="RuntimeError"):
        await engine.fill(scripted_request(prefix=secret, error=secret, request_id="r42"))
    assert (await engine.fill(scripted_request(secret))).text == secret
    await fleet.stop(options)
    places = places_of(options)
    logged = places.log.read_text() + places.stderr.read_text()
    assert "r42" in logged
    assert "horse" not in logged


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_process_in_order(
    connect: Connect, options: EngineOptions, number: signal.Signals
) -> None:
    engine = connect()
    task = await held(engine)
    os.kill((await engine.status()).pid, number)
    with pytest.raises(EngineUnavailable):
        await task
    await until(lambda: _has_left(options))
    assert await fleet.statuses(options) == ()


async def _has_left(options: EngineOptions) -> bool:
    places = places_of(options)
    return not places.record.exists() and not places.socket.exists()


async def test_a_signal_while_loading_is_not_waited_for(connect: Connect, options: EngineOptions) -> None:
    load = asyncio.create_task(connect(scripted_command(load_until=Path("/never"))).load())
    await until(lambda: _is_listed(options))
    assert await fleet.stop(options) == 1
    with pytest.raises(EngineUnavailable):
        await load


async def _is_listed(options: EngineOptions) -> bool:
    return any(status.progress == 0.5 for status in await fleet.statuses(options))


async def test_an_unused_engine_ends_and_leaves_nothing(connect: Connect, options: EngineOptions) -> None:
    brief = replace(options, idle_timeout_s=0.2)
    engine = connect(None, brief)
    await engine.fill(scripted_request())
    await until(lambda: _has_left(brief))
    assert (await engine.fill(scripted_request("again"))).text == "again"


async def test_a_client_may_be_told_not_to_start_one(connect: Connect, options: EngineOptions) -> None:
    passive = connect(None, replace(options, start=False))
    with pytest.raises(EngineUnavailable, match="midfill engine start"):
        await passive.fill(scripted_request())
    with pytest.raises(EngineUnavailable):
        await passive.status()
    await connect().fill(scripted_request())
    assert (await passive.fill(scripted_request("shared"))).text == "shared"


async def test_start_and_stop_by_hand(options: EngineOptions) -> None:
    status = await fleet.start(options, command=scripted_command())
    assert (status.state, status.preset) == (EngineState.READY, "scripted")
    assert [found.pid for found in await fleet.statuses(options)] == [status.pid]
    assert await fleet.stop(options) == 1
    assert await fleet.stop(options) == 0
    assert await fleet.statuses(options) == ()
