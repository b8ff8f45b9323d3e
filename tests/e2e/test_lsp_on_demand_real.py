"""Filling on demand with the engine process and the shipped model."""

from __future__ import annotations

import asyncio
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from midfill_engine import api
from support.editor import DRAWING, VSCODE, Editor, with_all
from support.lsp_client import LspClient, Message
from support.lsp_session import messages_to_user

SERVER = [sys.executable, "-W", "error", "-m", "midfill_server"]
URI = "file:///work/textwrap.py"
SOURCE = Path(textwrap.__file__).read_text(encoding="utf-8")
LOAD_PATIENCE_S = 180.0
LINE = "        width = self.width - len(indent)\n"


@pytest.fixture(scope="module", autouse=True)
def engine_of_our_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One engine process for this file's tests, found by nobody else and ended with them."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        home.chmod(0o700)
        for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            patch.setenv(name, str(home))
        yield
        asyncio.run(api.stop_engine(every=True))


@asynccontextmanager
async def editing(text: str) -> AsyncIterator[Editor]:
    async with LspClient.run(SERVER) as client:
        await client.initialize(with_all(VSCODE, DRAWING), initializationOptions={"maxTokens": 32})
        client.open(URI, text)
        await client.status(patience_s=LOAD_PATIENCE_S, kind="Normal", busy=False)
        yield Editor(client, text, 0, "utf-16", URI)


async def result_of(editor: Editor, command: str, **argument: object) -> Message:
    """A command's result, however long the model takes on a busy machine."""
    asked = editor.ask_command(command, **argument)
    await editor.client.message(lambda message: message.get("id") == asked, patience_s=LOAD_PATIENCE_S)
    result: Message = await editor.client.result(asked)
    return result


async def test_a_rewrite_and_another_draft_change_nothing_but_the_selection() -> None:
    text = SOURCE.replace("        lines = []\n", f"        lines = []\n{LINE}", 1)
    before, after = text.split(LINE, 1)
    async with editing(text) as editor:
        result = await result_of(editor, "midfill.rewrite", range=editor.range_of(LINE), instruction="shorter")
        assert result["message"] == "pocket cannot follow instructions: this is a fresh draft"
        drafts = [LINE.strip()]
        for _ in range(2):
            if result["applied"]:
                assert editor.text.startswith(before + "        ")
                assert editor.text.endswith("\n" + after)
                drafts.append(editor.text[len(before) : len(editor.text) - len(after)].strip())
            result = await result_of(editor, "midfill.nextDraft")
        assert len(drafts) > 1
        assert len(set(drafts)) == len(drafts)
        sent = [message["params"] for message in editor.client.messages if message.get("method") == "midfill/draft"]
        assert sent[-1]["isDone"] is True
        assert messages_to_user(editor.client) == []


async def test_holes_a_docstring_and_a_test_are_filled_and_everything_given_stays() -> None:
    text = (
        "import os\n\n\ndef read_lines(path):\n    with open(path) as file:\n        pass\n\n\n"
        "def is_empty(path):\n    return os.path.getsize(path) == 0\n"
    )
    at = {"line": 9, "character": 4}
    async with editing(text) as editor:
        results = [
            await result_of(editor, "midfill.fillHoles"),
            await result_of(editor, "midfill.docstring", position=at),
            await result_of(editor, "midfill.writeTest", position=at),
        ]
        assert {result["message"] for result in results} <= {"", "the model has found nothing that fits here"}
        assert any(result["applied"] for result in results)
        given = text.replace("        pass\n", "")
        remaining = iter(editor.text)
        assert all(character in remaining for character in given)
        assert len(editor.edits) == sum(result["applied"] for result in results)
