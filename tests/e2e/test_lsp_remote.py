"""An editor whose model is a server of somebody else's: the settings name it, ghost text comes from it."""

from __future__ import annotations

import sys

from support.gateway import gateway_at
from support.lsp_client import LspClient
from support.lsp_session import AT_ONCE, URI, messages_to_user
from support.scripted import Answer, Gate, ScriptedEngine

SERVER = [sys.executable, "-m", "midfill_server"]
STATUS = {"experimental": {"midfill": {"status": True}}}


async def test_ghost_text_comes_from_the_server_that_the_settings_name() -> None:
    behind = ScriptedEngine(default=Answer(text="a + b", confidence=0.9))
    async with gateway_at(behind) as url, LspClient.run(SERVER, {"HTTP_PROXY": "http://127.0.0.1:9"}) as client:
        await client.initialize(STATUS, initializationOptions=AT_ONCE | {"preset": "remote", "remoteUrl": url})
        client.open(URI, "def add(a, b):\n    return \n\nprint(add(1, 2))\n")
        await client.status(kind="Normal", busy=False)
        items = (await client.inline(URI, 1, 11))["items"]
    assert [item["insertText"] for item in items] == ["a + b"]
    assert behind.requests[0].prefix == "def add(a, b):\n    return "


async def test_cancelling_in_the_editor_reaches_the_server() -> None:
    behind = ScriptedEngine(default=Answer(num_steps=9, gate=Gate(before_step=3)))
    async with gateway_at(behind) as url, LspClient.run(SERVER) as client:
        await client.initialize(STATUS, initializationOptions=AT_ONCE | {"preset": "remote", "remoteUrl": url})
        client.open(URI, "x = \n")
        await client.status(kind="Normal", busy=False)
        asked = client.ask_inline(URI, 0, 4)
        await behind.wait_until(lambda behind: behind.num_steps >= 2)
        client.notify("$/cancelRequest", {"id": asked})
        await behind.wait_until(lambda behind: behind.num_cancelled == len(behind.requests))


async def test_a_server_that_is_not_there_is_said_in_the_status_only() -> None:
    async with LspClient.run(SERVER) as client:
        options = {"preset": "remote", "remoteUrl": "http://127.0.0.1:9"}
        await client.initialize(STATUS, initializationOptions=AT_ONCE | options)
        client.open(URI, "x = \n")
        await client.status(kind="Error")
        assert (await client.inline(URI, 0, 4))["items"] == []
        assert messages_to_user(client) == []
