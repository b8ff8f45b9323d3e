"""A client library of others, which checks every reply against the protocol and the client's capabilities."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from support.lsp_session import URI
from support.scripted import PATIENCE_S
from support.scripted_server import Say, scripted_server


@pytest_lsp.fixture(config=ClientServerConfig(server_command=scripted_server(Say(text="foo(a)\n"))))
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    lsp_client.set_configuration({"midfill": {"debounceMs": 0}})
    ready = asyncio.Event()

    @lsp_client.feature("didChangeStatus")
    def on_status(params: Any) -> None:
        if not params.busy:
            ready.set()

    capabilities = client_capabilities("neovim")
    capabilities.experimental = {"midfill": {"status": True}}
    await lsp_client.initialize_session(types.InitializeParams(capabilities=capabilities))
    item = types.TextDocumentItem(uri=URI, language_id="python", version=1, text="x = \n")
    lsp_client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    await asyncio.wait_for(ready.wait(), PATIENCE_S)
    yield
    await lsp_client.shutdown_session()


async def test_ghost_text(client: LanguageClient) -> None:
    params = types.InlineCompletionParams(
        context=types.InlineCompletionContext(types.InlineCompletionTriggerKind.Automatic),
        text_document=types.TextDocumentIdentifier(URI),
        position=types.Position(0, 4),
    )
    result = await client.text_document_inline_completion_async(params)
    assert isinstance(result, types.InlineCompletionList)
    (item,) = result.items
    assert item.insert_text == "foo(a)"
    assert item.range == types.Range(types.Position(0, 4), types.Position(0, 4))
    assert item.command is not None
    command = types.ExecuteCommandParams(item.command.command, item.command.arguments)
    assert await client.workspace_execute_command_async(command) is None


async def test_completion_items(client: LanguageClient) -> None:
    """The library's profile of Neovim is of a version without ghost text, so it is given completion items."""
    params = types.CompletionParams(types.TextDocumentIdentifier(URI), types.Position(0, 4))
    result = await client.text_document_completion_async(params)
    assert isinstance(result, types.CompletionList)
    assert result.is_incomplete
    (item,) = result.items
    assert isinstance(item.text_edit, types.TextEdit)
    assert item.text_edit.new_text == "foo(a)"
