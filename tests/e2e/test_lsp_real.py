"""The language server, the engine process and the shipped model together, on files of the standard library."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from midfill_engine import api
from midfill_engine.api import EngineState, EngineStatus
from support.lsp_client import LspClient, Message, applied
from support.lsp_session import texts
from support.scripted import PATIENCE_S

SERVER = [sys.executable, "-m", "midfill_server"]
OPTIONS = {"maxTokens": 32, "deadlineMs": 60_000, "debounceMs": 0}
LOAD_PATIENCE_S = 180.0
URI = "file:///work/textwrap.py"
SOURCE = Path(textwrap.__file__).read_text(encoding="utf-8")


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
async def editing(text: str) -> AsyncIterator[LspClient]:
    """A document in a server whose engine is ready."""
    async with LspClient.run(SERVER) as client:
        await client.initialize(initializationOptions=OPTIONS)
        client.open(URI, text)
        await client.status(patience_s=LOAD_PATIENCE_S, kind="Normal", busy=False)
        yield client


async def engine_status() -> EngineStatus:
    (status,) = await api.engine_statuses()
    return status


def holes(text: str) -> list[tuple[int, int, str]]:
    """(line, column, text): places in lines of code, each with the text that is left without what stood there."""
    lines = text.splitlines(keepends=True)
    found = []
    for row, line in enumerate(lines):
        column = line.find(" = ") + 3
        if column > 2 and not line.lstrip().startswith("#") and line.isascii():
            cut = line[:column] + "\n"
            found.append((row, column, "".join([*lines[:row], cut, *lines[row + 1 :]])))
    return found


def offset(text: str, line: int, column: int) -> int:
    return sum(len(each) + 1 for each in text.split("\n")[:line]) + column


def check_nothing_given_is_changed(text: str, line: int, column: int, item: Message) -> None:
    at = offset(text, line, column)
    num_replaced = item["range"]["end"]["character"] - item["range"]["start"]["character"]
    assert item["range"]["start"] == {"line": line, "character": column}
    after = applied(text, item)
    assert after == text[:at] + item["insertText"] + text[at + num_replaced :]
    replaced = iter(item["insertText"])
    assert all(character in replaced for character in text[at : at + num_replaced])
    assert item["insertText"].strip()


async def test_a_real_file_is_filled_and_everything_given_stands_around_it() -> None:
    given = holes(SOURCE)[:6]
    num_filled = 0
    async with editing(SOURCE) as client:
        for version, (line, column, text) in enumerate(given, start=2):
            client.change(URI, version, text)
            for item in (await client.inline(URI, line, column, kind=1))["items"]:
                num_filled += 1
                check_nothing_given_is_changed(text, line, column, item)
    assert num_filled > 0
    assert (await engine_status()).num_fills >= len(given)


async def test_a_storm_of_thirty_ends_with_one_answer_and_wastes_a_step_each_at_most() -> None:
    """Rows 3 and 4: each superseded request is stopped in the engine too, whatever it is doing."""
    line, column, text = holes(SOURCE)[8]
    typed = "some_name_of_a_thing_that_grows"[:30]
    async with editing(text) as client:
        before = (await engine_status()).num_steps
        asked = []
        for number, letter in enumerate(typed):
            at = column + number
            client.change(URI, number + 2, letter, at=(line, at, line, at))
            asked.append(client.ask_inline(URI, line, at + 1))
        results = [texts(await client.result(request_id)) for request_id in asked]
        after = await settled()
    async with editing(text[: offset(text, line, column)] + typed + text[offset(text, line, column) :]) as client:
        alone = texts(await client.inline(URI, line, column + len(typed)))
        num_alone = (await settled()).num_steps - after.num_steps
    assert results == [[]] * 29 + [alone]
    assert after.num_steps - before <= 29 + num_alone


async def settled() -> EngineStatus:
    """The engine's status once it does nothing any more."""
    async with asyncio.timeout(PATIENCE_S):
        while (status := await engine_status()).state is EngineState.BUSY:
            pass  # each look is a question to the engine, which answers when it can
    return status


async def test_a_killed_engine_is_started_again_and_the_editor_hears_nothing_of_it() -> None:
    line, column, text = holes(SOURCE)[3]
    async with editing(text) as client:
        killed = (await engine_status()).pid
        os.kill(killed, signal.SIGKILL)
        asked = client.ask_inline(URI, line, column)
        await client.message(lambda message: message.get("id") == asked, patience_s=LOAD_PATIENCE_S)
        assert isinstance((await client.result(asked))["items"], list)
        assert (await engine_status()).pid != killed
        assert not [message for message in client.messages if message.get("method", "").startswith("window/")]
