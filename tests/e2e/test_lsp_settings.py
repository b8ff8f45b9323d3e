"""Settings that come and change, and completion items for clients without ghost text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.lsp_client import NEOVIM, LspClient, Message
from support.lsp_session import URI, editing, fills, texts
from support.scripted_server import Say, scripted_server

HELIX: Message = {"general": {"positionEncodings": ["utf-8"]}, "workspace": {"configuration": True}}
EMACS: Message = HELIX | {"textDocument": {"inlineCompletion": None}}


def completion_params(line: int, character: int) -> Message:
    return {"textDocument": {"uri": URI}, "position": {"line": line, "character": character}}


async def test_pushed_settings_hold_from_the_next_request_on() -> None:
    """Row 26 (taplo#282): changed settings were ignored until a restart."""
    async with editing("x = \n", Say(text=" ")) as client:
        for max_tokens in (5, 6):
            pushed = {"settings": {"midfill": {"maxTokens": max_tokens}}}
            client.notify("workspace/didChangeConfiguration", pushed)
            await client.inline(URI, 0, 4)
        assert [asked["max_tokens"] for asked in fills(client)] == [5, 6]


@pytest.mark.parametrize("pushed", [None, {}])
async def test_settings_are_pulled_when_the_push_is_empty(pushed: Any) -> None:
    """Row 26: VS Code's newer way is to push null and to be asked."""
    async with LspClient.run(scripted_server(Say(text=" "))) as client:
        client.configuration = {"maxTokens": 5, "debounceMs": 0}
        await client.initialize()
        client.open(URI, "x = \n")
        await client.status(kind="Normal", busy=False)
        await client.inline(URI, 0, 4)
        client.configuration = {"maxTokens": 6, "debounceMs": 0}
        client.notify("workspace/didChangeConfiguration", {"settings": pushed})
        await client.message(lambda message: len(pulls(client)) == 2)
        await client.inline(URI, 0, 4)
        assert [asked["max_tokens"] for asked in fills(client)] == [5, 6]


def pulls(client: LspClient) -> list[Message]:
    return [message for message in client.messages if message.get("method") == "workspace/configuration"]


async def test_switching_off_is_told_and_obeyed() -> None:
    async with editing("x = \n", Say(text="1")) as client:
        client.notify("workspace/didChangeConfiguration", {"settings": {"midfill": {"enabled": False}}})
        assert await client.inline(URI, 0, 4) == {"items": []}
        assert (await client.status(kind="Inactive"))["message"] == "switched off"
        client.notify("workspace/didChangeConfiguration", {"settings": {"midfill": {"enabled": True}}})
        assert texts(await client.inline(URI, 0, 4)) == ["1"]


async def test_another_preset_is_another_engine() -> None:
    async with editing("x = \n", Say(text="1")) as client:
        client.notify("workspace/didChangeConfiguration", {"settings": {"midfill": {"preset": "other"}}})
        await client.event(lambda event: event == {"event": "start", "preset": "other"})
        await client.status(busy=True, message="loading other")


async def test_bad_settings_are_named_in_the_log_and_the_rest_holds() -> None:
    async with editing("x = \n", Say(text=" "), options={"maxTokens": "many", "mode": "block"}) as client:
        await client.inline(URI, 0, 4)
        assert (fills(client)[0]["max_tokens"], fills(client)[0]["mode"]) == (128, "block")


async def test_clients_without_ghost_text_get_completion_items() -> None:
    """Rows 2 and 29: an explicit edit, and an incomplete list, so that the client asks again with every key."""
    async with editing("rev\n", Say(text="ersed(x)\n")) as client:
        assert "completionProvider" not in (await client.result(1))["capabilities"]
    async with editing("r\n", Say(text="eversed(x)\n"), capabilities=HELIX) as client:
        assert "completionProvider" in (await client.result(1))["capabilities"]
        result = await client.request("textDocument/completion", completion_params(0, 1))
        (item,) = result["items"]
        assert result["isIncomplete"] is True
        assert item["textEdit"]["newText"] == "reversed(x)"
        assert item["textEdit"]["range"] == {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
        client.change(URI, 2, "ev", at=(0, 1, 0, 1))
        (item,) = (await client.request("textDocument/completion", completion_params(0, 3)))["items"]
        assert item["textEdit"]["newText"] == "reversed(x)"
        assert item["textEdit"]["range"]["end"]["character"] == 3
        assert len(fills(client)) == 1


@pytest.mark.parametrize(
    ("capabilities", "fallback", "has_provider"),
    [
        (NEOVIM, "auto", False),
        (EMACS, "auto", False),
        (HELIX, "auto", True),
        (NEOVIM, "on", True),
        (HELIX, "off", False),
    ],
)
async def test_who_is_told_of_completion_items(capabilities: Message, fallback: str, has_provider: bool) -> None:
    """lsp-mode names inline completion but gives it no value, although it has it."""
    async with LspClient.run(scripted_server()) as client:
        result = await client.initialize(capabilities, initializationOptions={"completionFallback": fallback})
        assert ("completionProvider" in result["capabilities"]) is has_provider


@pytest.mark.parametrize(("level", "is_shown"), [("info", False), ("debug", True)])
async def test_the_log_has_the_users_text_at_debug_only(level: str, is_shown: bool, tmp_path: Path) -> None:
    """Logs are sent around when something is wrong."""
    path = tmp_path / "log"
    with path.open("wb") as stderr:
        async with LspClient.run(scripted_server(Say(text="a_private_name")), stderr=stderr) as client:
            await client.initialize(initializationOptions={"logLevel": level, "debounceMs": 0})
            client.open(URI, "a_private_name = \n")
            await client.status(kind="Normal", busy=False)
            request_id = client.ask_inline(URI, 0, 17)
            await client.result(request_id)
            client.send({"jsonrpc": "2.0", "id": "x", "method": "workspace/executeCommand", "params": "a_private_name"})
            client.notify("exit")
            await client.ended()
    log = path.read_text()
    assert ("a_private_name" in log) is is_shown
    assert f"inline {request_id}" in log


async def test_the_log_goes_to_a_private_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "midfill.log"
    async with editing("x = \n", Say(text="1")) as client:
        pushed = {"logFile": str(path), "logLevel": "info", "debounceMs": 0}
        client.notify("workspace/didChangeConfiguration", {"settings": {"midfill": pushed}})
        request_id = client.ask_inline(URI, 0, 4)
        await client.result(request_id)
        lines = path.read_text().splitlines()
        assert any(f" I inline {request_id}: " in line for line in lines)
        assert path.stat().st_mode & 0o777 == 0o600


async def test_the_status_is_told_only_to_those_who_wish_it() -> None:
    """lsp-mode opens a window of warnings for a notification that it does not know."""
    silent = NEOVIM | {"experimental": {"midfill": {"status": False}}}
    async with LspClient.run(scripted_server(Say(text="1"))) as client:
        await client.initialize(silent, initializationOptions={"debounceMs": 0})
        client.open(URI, "x = \n")
        while not (await client.inline(URI, 0, 4))["items"]:
            pass  # the engine is being started
        assert [message for message in client.messages if message.get("method") == "didChangeStatus"] == []
