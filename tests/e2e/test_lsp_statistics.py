"""What editors tell of suggestions, over stdio, and what `midfill stats` says of it afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.lsp_client import LspClient, Message
from support.lsp_session import AT_ONCE, URI
from support.scripted_server import Say, scripted_server

EXECUTE = "workspace/executeCommand"


async def told(client: LspClient) -> Message:
    result: Message = await client.request(EXECUTE, {"command": "midfill.stats", "arguments": [{}]})
    return result


async def started(client: LspClient, text: str, **options: Any) -> None:
    await client.initialize(initializationOptions=AT_ONCE | options)
    client.open(URI, text)
    await client.status(kind="Normal", busy=False)


async def left(client: LspClient) -> None:
    await client.request("shutdown")
    client.notify("exit")
    await client.ended()


def stats(home: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "midfill_server.cli", "stats", *arguments]
    done = subprocess.run(command, env={"XDG_STATE_HOME": str(home)}, capture_output=True, text=True, check=True)
    return done.stdout


async def test_a_day_with_suggestions(tmp_path: Path) -> None:
    answers = (Say(text="foo(a, b)"), Say(text=".bar()"))
    async with LspClient.run(scripted_server(*answers), env={"XDG_STATE_HOME": str(tmp_path)}) as client:
        await started(client, "x = \n")
        await client.inline(URI, 0, 4)
        client.change(URI, 2, "f", at=(0, 4, 0, 4))
        (item,) = (await client.inline(URI, 0, 5))["items"]
        client.notify("textDocument/didShowCompletion", {"item": item})
        client.notify("textDocument/didPartiallyAcceptCompletion", {"item": item, "acceptedLength": 2})
        client.change(URI, 3, "oo(a, b)", at=(0, 5, 0, 5))
        await client.request(EXECUTE, item["command"])
        await client.event(lambda event: event["event"] == "finished" and event["request_id"] == "in advance")
        await client.inline(URI, 0, 13)
        client.change(URI, 4, "", at=(0, 4, 0, 7))  # "foo" is not liked after all
        client.notify("textDocument/didFocus", {"textDocument": {"uri": URI}})
        client.notify("textDocument/didFocus", {})
        client.notify("textDocument/didShowCompletion", {"item": {"command": None}})
        shown = await told(client)
        counted = {name: shown[name] for name in ("shown", "accepted", "partlyAccepted", "fromMemory", "fromFillAhead")}
        assert counted == {"shown": 1, "accepted": 1, "partlyAccepted": 1, "fromMemory": 1, "fromFillAhead": 1}
        assert (shown["engineCalls"], shown["engineCallsAhead"]) == (2, 1)
        assert (shown["openDocuments"], shown["runningFills"]) == (1, 0)
        assert "| suggestions shown | 1 |" in shown["text"]
        await left(client)
    told_by_command = json.loads(stats(tmp_path, "--json"))
    assert (told_by_command["charactersWatched"], told_by_command["charactersKept"]) == (8, 6)
    assert told_by_command["accepted"] == 1
    assert "accepted in part" in stats(tmp_path)
    (file,) = (tmp_path / "midfill").glob("*.json")
    assert "foo" not in file.read_text()
    assert json.loads(stats(tmp_path, "--reset", "--json"))["shown"] == 0


@pytest.mark.parametrize("is_on", [True, False])
async def test_who_wants_no_statistics_has_no_file(is_on: bool, tmp_path: Path) -> None:
    async with LspClient.run(scripted_server(Say(text="1")), env={"XDG_STATE_HOME": str(tmp_path)}) as client:
        await started(client, "x = \n", statistics=is_on)
        await client.inline(URI, 0, 4)
        await left(client)
    assert (tmp_path / "midfill").exists() is is_on
