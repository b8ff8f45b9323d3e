"""Workspace folders over stdio: settings of each, and what a repository may ask for in its midfill.toml."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from support.lsp_client import NEOVIM, LspClient, Message
from support.lsp_session import AT_ONCE, fills
from support.scripted_server import Say, scripted_server

WATCHING = NEOVIM | {"workspace": {"configuration": True, "didChangeWatchedFiles": {"dynamicRegistration": True}}}


def folder(path: Path) -> Message:
    return {"uri": path.as_uri(), "name": path.name}


def repository(path: Path, toml: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    (path / "midfill.toml").write_text(toml)
    return path


@asynccontextmanager
async def working(*folders: Path, options: Message | None = None, **params: Any) -> AsyncIterator[LspClient]:
    async with LspClient.run(scripted_server(Say(text=" "))) as client:
        given = {"initializationOptions": AT_ONCE | (options or {})} | params
        await client.initialize(WATCHING, workspaceFolders=[folder(path) for path in folders] or None, **given)
        client.open("untitled:warm", "x = ")
        await client.status(kind="Normal", busy=False)
        yield client


async def max_tokens(client: LspClient, uri: str) -> int:
    """What the engine is asked for in a document."""
    num_before = len(fills(client))
    client.open(uri, "x = ")
    assert await client.inline(uri, 0, 4, kind=1) == {"items": []}
    assert len(fills(client)) == num_before + 1
    asked: int = fills(client)[-1]["max_tokens"]
    return asked


def change_folders(client: LspClient, added: list[Path], removed: list[Path]) -> None:
    event = {"added": [folder(path) for path in added], "removed": [folder(path) for path in removed]}
    client.notify("workspace/didChangeWorkspaceFolders", {"event": event})


async def test_each_folder_has_its_own_settings_and_they_come_and_go(tmp_path: Path) -> None:
    """Row 27 (copilot-intellij#769, contextive#108): a second folder replaced the first, or was not seen."""
    one, two = repository(tmp_path / "one", "maxTokens = 11"), repository(tmp_path / "two", "max_tokens = 22")
    inner = repository(one / "inner", "maxTokens = 33")
    async with working(one) as client:
        places = [(path / "a.py").as_uri() for path in (one, two, inner)]
        assert [await max_tokens(client, uri) for uri in places] == [11, 128, 11]
        change_folders(client, [two, inner], [])
        assert [await max_tokens(client, uri) for uri in places] == [11, 22, 33]
        change_folders(client, [], [one])
        assert [await max_tokens(client, uri) for uri in places] == [128, 22, 33]


@pytest.mark.parametrize("params", [{}, {"workspaceFolders": None, "rootUri": None, "rootPath": None}])
async def test_no_folder_at_all(params: Message, tmp_path: Path) -> None:
    """Row 27: Neovim sends none."""
    async with LspClient.run(scripted_server(Say(text=" "))) as client:
        await client.initialize(initializationOptions=AT_ONCE | {"maxTokens": 7}, **params)
        client.open("untitled:warm", "x = ")
        await client.status(kind="Normal", busy=False)
        assert await max_tokens(client, (tmp_path / "a.py").as_uri()) == 7


async def test_the_configuration_is_asked_for_each_folder(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    by_scope = {one.as_uri(): {"maxTokens": 1}, two.as_uri(): {"maxTokens": 2}, None: {"maxTokens": 3}}
    async with LspClient.run(scripted_server(Say(text=" "))) as client:
        client.answers["workspace/configuration"] = lambda params: [
            AT_ONCE | by_scope[item.get("scopeUri")] for item in params["items"]
        ]
        await client.initialize(workspaceFolders=[folder(one), folder(two)])
        client.open("untitled:warm", "x = ")
        await client.status(kind="Normal", busy=False)
        uris = [(one / "a.py").as_uri(), (two / "a.py").as_uri(), "untitled:b"]
        assert [await max_tokens(client, uri) for uri in uris] == [1, 2, 3]


async def test_what_users_set_goes_over_the_repository_and_lists_add_up(tmp_path: Path) -> None:
    toml = "maxTokens = 11\nnumCandidates = 2\nexcludeGlobs = ['gen/*']\n"
    async with working(repository(tmp_path, toml), options={"maxTokens": 5, "excludeGlobs": ["old/*"]}) as client:
        assert await max_tokens(client, (tmp_path / "a.py").as_uri()) == 5
        assert fills(client)[-1]["num_candidates"] == 2
        for name in ("gen", "old"):
            uri = (tmp_path / name / "a.py").as_uri()
            client.open(uri, "x = ")
            await client.inline(uri, 0, 4)
        assert len(fills(client)) == 1


async def test_a_folder_that_is_not_trusted_has_no_say(tmp_path: Path) -> None:
    async with working(repository(tmp_path, "maxTokens = 11"), options={"isTrusted": False}) as client:
        assert await max_tokens(client, (tmp_path / "a.py").as_uri()) == 128


async def test_a_changed_file_holds_from_the_next_request_on(tmp_path: Path) -> None:
    async with working(repository(tmp_path, "maxTokens = 11")) as client:
        await client.message(lambda message: message.get("method") == "client/registerCapability")
        assert await max_tokens(client, (tmp_path / "a.py").as_uri()) == 11
        repository(tmp_path, "maxTokens = 1234")
        change = {"uri": (tmp_path / "midfill.toml").as_uri(), "type": 2}
        client.notify("workspace/didChangeWatchedFiles", {"changes": [change]})
        assert await max_tokens(client, (tmp_path / "b.py").as_uri()) == 1234
