"""Every way a client can leave: the server is gone within a second, whatever is running, and nothing is left behind."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from support.lsp_client import LspClient
from support.lsp_session import AT_ONCE, URI, editing, messages_to_user
from support.scripted_server import Say, scripted_server

SOON_S = 1.0
STUCK = Say(text="late", num_steps=9, hold_before=2)


@asynccontextmanager
async def busy() -> AsyncIterator[LspClient]:
    """A server whose engine is in the middle of a fill."""
    async with editing("x = \n", STUCK) as client:
        client.ask_inline(URI, 0, 4)
        await client.event(lambda event: event["event"] == "step")
        yield client


async def check_gone(client: LspClient, code: int) -> None:
    ended, took_s = await client.ended()
    assert (ended, took_s < SOON_S) == (code, True), took_s
    assert messages_to_user(client) == []


async def test_shutdown_and_exit_while_busy() -> None:
    """Row 5 (zed#43864): the server survived the editor; pygls took 12 seconds."""
    async with busy() as client:
        assert await client.request("shutdown") is None
        client.notify("exit")
        await check_gone(client, 0)


async def test_exit_alone_while_busy() -> None:
    async with busy() as client:
        client.notify("exit")
        await check_gone(client, 1)


async def test_stdin_closed_while_busy() -> None:
    """Row 5 (a)."""
    async with busy() as client:
        assert client.process.stdin is not None
        client.process.stdin.close()
        await check_gone(client, 1)


async def test_a_client_that_forgets_to_say_exit() -> None:
    """Row 5 (d)."""
    async with busy() as client:
        await client.request("shutdown")
        await check_gone(client, 0)


async def test_a_client_that_does_not_read_any_more() -> None:
    """The server stands in a write to a full pipe and can hear nothing of the client's leaving."""
    async with busy() as client:
        transport = client.process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]
        transport.pause_reading()
        for number in range(3000):
            client.send({"jsonrpc": "2.0", "id": f"{number}" * 20, "method": "midfill/unknown"})
        assert client.process.stdin is not None
        await client.process.stdin.drain()
        client.process.stdin.close()
        begun = time.monotonic()
        await client.events_ended()
        assert time.monotonic() - begun < SOON_S
        transport.resume_reading()


async def test_nothing_is_written_after_the_client_is_gone() -> None:
    """A late reply to a closed pipe was reported to the client, which failed, which was reported..."""
    async with busy() as client:
        client.process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
        client.change(URI, 2, "y", at=(0, 4, 0, 4))
        client.notify("exit")
        await check_gone(client, 1)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
async def test_signals(name: str) -> None:
    number = signal.Signals[name]
    async with busy() as client:
        client.process.send_signal(number)
        await check_gone(client, -number)


async def test_before_the_client_has_said_hello() -> None:
    for leave, code in ((lambda client: client.notify("exit"), 1), (lambda client: client.process.stdin.close(), 1)):
        async with LspClient.run(scripted_server()) as client:
            leave(client)
            await check_gone(client, code)


async def test_right_after_hello_while_the_library_is_imported() -> None:
    async with LspClient.run(scripted_server()) as client:
        await client.request("initialize", {"capabilities": {}, "initializationOptions": AT_ONCE})
        client.notify("exit")
        code, _took_s = await client.ended()  # the import has to end first
        assert code == 1


PARENT = """
import os, subprocess, sys
subprocess.Popen(sys.argv[1:], pass_fds=[int(os.environ["EVENTS_FD"])]).wait()
"""


async def test_a_killed_parent_takes_the_server_along_although_its_stdin_is_still_open() -> None:
    """Row 5 (b): kill -9 of the editor, while somebody else holds the other end of the server's stdin."""
    server = scripted_server(Say(text="late", hold_before=2))
    async with LspClient.run([sys.executable, "-c", PARENT, *server]) as client:
        await client.initialize(initializationOptions=AT_ONCE)
        client.open(URI, "x = \n")
        await client.event(lambda event: event["event"] == "start")
        client.process.kill()
        begun = time.monotonic()
        await client.events_ended()
        assert time.monotonic() - begun < SOON_S
