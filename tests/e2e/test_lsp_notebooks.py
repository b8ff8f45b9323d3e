"""Notebooks over stdio: the cells around the one that is edited are what the model sees too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from support.lsp_client import NEOVIM, LspClient, Message
from support.lsp_session import AT_ONCE, fills, texts
from support.scripted_server import Say, scripted_server

NOTEBOOK = "file:///work/notes.ipynb"
WITH_NOTEBOOKS = NEOVIM | {"notebookDocument": {"synchronization": {"dynamicRegistration": True}}}
PROSE, CODE = 1, 2


def uri(number: int) -> str:
    return f"vscode-notebook-cell:/work/notes.ipynb#{number}"


def cell(number: int, kind: int = CODE) -> Message:
    return {"kind": kind, "document": uri(number)}


def document(number: int, text: str, language: str = "python") -> Message:
    return {"uri": uri(number), "languageId": language, "version": 1, "text": text}


def change(client: LspClient, version: int, **cells: Any) -> None:
    identifier = {"uri": NOTEBOOK, "version": version}
    client.notify("notebookDocument/didChange", {"notebookDocument": identifier, "change": {"cells": cells}})


@asynccontextmanager
async def noting(*answers: Say) -> AsyncIterator[LspClient]:
    """A notebook of code, prose, and code that is being written."""
    async with LspClient.run(scripted_server(*answers)) as client:
        result = await client.initialize(WITH_NOTEBOOKS, initializationOptions=AT_ONCE)
        assert result["capabilities"]["notebookDocumentSync"] == {"notebookSelector": [{"notebook": "*"}]}
        cells = [cell(0), cell(1, PROSE), cell(2)]
        notebook = {"uri": NOTEBOOK, "notebookType": "jupyter-notebook", "version": 1, "cells": cells}
        documents = [document(0, "total = 1"), document(1, "Then twice.", "markdown"), document(2, "twice = ")]
        client.notify("notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": documents})
        await client.status(kind="Normal", busy=False)
        yield client


async def test_a_cell_is_filled_with_the_cells_before_it_in_view() -> None:
    async with noting(Say(text="2 * total")) as client:
        answer = await client.inline(uri(2), 0, 8)
        assert texts(answer) == ["2 * total"]
        assert answer["items"][0]["range"]["start"] == {"line": 0, "character": 8}
        assert fills(client)[0]["prefix"] == "total = 1\n\n# Then twice.\n\ntwice = "


async def test_cells_that_are_changed_added_and_removed_count_from_the_next_request_on() -> None:
    async with noting(Say(text=" ")) as client:
        edit = {"document": {"uri": uri(0), "version": 2}, "changes": [{"text": "total = 5"}]}
        added = {"array": {"start": 1, "deleteCount": 1, "cells": [cell(3)]}, "didOpen": [document(3, "import x")]}
        change(client, 2, structure=added | {"didClose": [{"uri": uri(1)}]}, textContent=[edit])
        await client.inline(uri(2), 0, 8)
        assert fills(client)[0]["prefix"] == "total = 5\n\nimport x\n\ntwice = "
        assert await client.inline(uri(1), 0, 0) == {"items": []}


async def test_of_a_closed_notebook_nothing_is_kept() -> None:
    async with noting(Say(text="2")) as client:
        client.notify("notebookDocument/didSave", {"notebookDocument": {"uri": NOTEBOOK}})
        closing = {"notebookDocument": {"uri": NOTEBOOK}, "cellTextDocuments": []}
        client.notify("notebookDocument/didClose", closing)
        assert await client.inline(uri(2), 0, 8) == {"items": []}
        assert fills(client) == []


async def test_a_client_without_notebooks_opens_cells_as_documents() -> None:
    async with LspClient.run(scripted_server(Say(text="2"))) as client:
        result = await client.initialize(initializationOptions=AT_ONCE)
        assert "notebookDocumentSync" not in result["capabilities"]
        client.open(uri(2), "twice = ")
        await client.status(kind="Normal", busy=False)
        assert texts(await client.inline(uri(2), 0, 8)) == ["2"]
        assert fills(client)[0]["prefix"] == "twice = "
