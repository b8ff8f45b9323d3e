"""What the machine around the server does to it: proxies, killed editors, huge files, models that take long to load.

The engine process is real where it matters, with a scripted model in it.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from midfill_engine import api
from midfill_engine.api import EngineOptions, EngineState
from midfill_engine.service.client import ServiceEngine
from midfill_server.snapshot import BLOCK_LINES, PREFIX_LIMIT, SUFFIX_LIMIT
from support.editor import PROGRESSING
from support.lsp_client import LspClient
from support.lsp_session import AT_ONCE, URI, editing, fills, messages_to_user, texts
from support.scripted_process import scripted_command
from support.scripted_server import Say, scripted_server

SERVER = [sys.executable, "-m", "midfill_server"]
SOON_S = 1.0
MIB = 2**20


@pytest.fixture(autouse=True)
def homes(tmp_path: Path) -> Iterator[None]:
    """Engine processes of this test's own, which end with it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            place = tmp_path / name
            place.mkdir(mode=0o700)
            patch.setenv(name, str(place))
        yield
        asyncio.run(api.stop_engine(every=True))


async def started(is_tcp: bool = False) -> api.EngineStatus:
    """The engine process that the server will find, with a scripted model in it."""
    engine = ServiceEngine(EngineOptions(), scripted_command(is_tcp=is_tcp))
    try:
        await engine.fill(api.FillRequest(prefix="x"))
    finally:
        await engine.aclose()
    (status,) = await api.engine_statuses()
    return status


@asynccontextmanager
async def served(env: dict[str, str] | None = None) -> AsyncIterator[LspClient]:
    async with LspClient.run(SERVER, env=env) as client:
        await client.initialize(initializationOptions=AT_ONCE)
        client.open(URI, "x = \n")
        await client.status(kind="Normal", busy=False)
        yield client


async def say_goodbye(client: LspClient) -> None:
    client.ask("shutdown")
    client.notify("exit")


async def forget_exit(client: LspClient) -> None:
    client.ask("shutdown")


async def close_stdin(client: LspClient) -> None:
    assert client.process.stdin is not None
    client.process.stdin.close()


async def be_terminated(client: LspClient) -> None:
    client.process.send_signal(signal.SIGTERM)


@pytest.mark.parametrize("leave", [say_goodbye, forget_exit, close_stdin, be_terminated])
async def test_the_server_leaves_at_once_and_without_children_and_the_shared_engine_lives_on(
    leave: Callable[[LspClient], Awaitable[None]],
) -> None:
    """Row 5 (zed#43864, #48097): servers survived the editor, and with them what they had started. The engine is shared
    with other windows: it ends by its own idle rule and not with one of them."""
    engine = await started()
    async with served() as client:
        client.ask_inline(URI, 0, 4)
        children = psutil.Process(client.process.pid).children(recursive=True)
        await leave(client)
        _code, took_s = await client.ended()
        assert took_s < SOON_S
    assert not [child for child in children if child.is_running() and child.pid != engine.pid]
    (after,) = await api.engine_statuses()
    assert after.pid == engine.pid


async def test_an_engine_that_the_server_has_started_outlives_a_killed_server() -> None:
    """Row 5: kill -9 of the server itself. Its engine is no child that dies with it, nor an orphan that nobody finds:
    the next window finds and uses it."""
    async with LspClient.run(SERVER) as client:
        await client.initialize(initializationOptions=AT_ONCE)
        client.open(URI, "x = \n")
        await client.status(patience_s=180, kind="Normal", busy=False)
        (before,) = await api.engine_statuses()
        client.process.kill()
        await client.ended()
    async with served():
        (after,) = await api.engine_statuses()
        assert (after.pid, after.state) == (before.pid, EngineState.READY)


@asynccontextmanager
async def proxy() -> AsyncIterator[tuple[str, list[bytes]]]:
    """A proxy that answers nothing well, and what it was asked."""
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(1000))
        writer.write(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(hear, "127.0.0.1", 0) as listener:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", heard


@pytest.mark.parametrize("is_tcp", [False, True], ids=["socket", "loopback"])
async def test_no_proxy_ever_sees_what_stays_on_this_machine(is_tcp: bool) -> None:
    """Row 25 (tabby#3360): with a proxy in the environment the local backend was asked through it, and not reached."""
    await started(is_tcp)
    async with proxy() as (address, heard):
        names = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
        async with served(dict.fromkeys(names, address) | {"NO_PROXY": "", "no_proxy": ""}) as client:
            assert texts(await client.inline(URI, 1, 0, kind=1)) == ["pass"]
    assert heard == []


async def test_of_a_file_of_five_megabytes_the_engine_is_sent_a_bounded_piece() -> None:
    """Row 20 (continue#2202): each key lagged in large files, and all of them went to the model. How long a key takes
    is `did_change_5mb_ms_p95` of `midfill bench`."""
    line = "value = compute(value, 12345)  # a line like many others\n"
    num_lines = 5 * MIB // len(line)
    middle = num_lines // 2
    async with editing(line * num_lines, Say(text=" ")) as client:
        for number, key in enumerate("abcdefghij" * 5):
            client.change(URI, number + 2, key, at=(middle, number, middle, number))
        await client.inline(URI, middle, 50)
        (asked,) = fills(client)
        assert asked["prefix"].endswith("\n" + "abcdefghij" * 5)
        assert len(asked["prefix"]) <= PREFIX_LIMIT + BLOCK_LINES * len(line)
        assert asked["suffix"].startswith(line)
        assert len(asked["suffix"]) <= SUFFIX_LIMIT


async def test_opening_a_file_loads_the_model_shows_how_far_it_is_and_nobody_waits(tmp_path: Path) -> None:
    """Row 30 (OpenWhispr#1207): the first request after an idle hour took ten seconds, and others waited behind it."""
    release = tmp_path / "release"
    script = {"is_start_held": True, "release": release}
    async with editing("x = \n", Say(text="1"), capabilities=PROGRESSING, **script) as client:
        await client.event(lambda event: event["event"] == "start")
        begun = await client.message(lambda message: _progress(message) == "begin")
        for kind in (1, 2):
            asked = time.monotonic()
            assert await client.inline(URI, 0, 4, kind=kind) == {"items": []}
            assert time.monotonic() - asked < SOON_S
        release.touch()
        ended = await client.message(lambda message: _progress(message) == "end")
        assert ended["params"]["token"] == begun["params"]["token"]
        assert fills(client) == []
        assert texts(await client.inline(URI, 0, 4)) == ["1"]


FOLDER = URI.rpartition("/")[0]
NESTED = [FOLDER, f"{FOLDER}/inner", "file:///other%20place"]


@pytest.mark.parametrize("folders", [None, [], NESTED[:1], NESTED])
async def test_whatever_folders_there_are_a_file_in_any_of_them_is_served(folders: list[str] | None) -> None:
    """Row 27 (contextive#108): the second folder took the place of the first, or was not seen; Neovim sends none."""
    given = None if folders is None else [{"uri": uri, "name": uri} for uri in folders]
    async with LspClient.run(scripted_server(Say(text="1"))) as client:
        await client.initialize(initializationOptions=AT_ONCE, workspaceFolders=given)
        client.open(URI, "x = \n")
        await client.status(kind="Normal", busy=False)
        for event in (
            {"added": [{"uri": NESTED[1], "name": "x"}], "removed": []},
            {"added": [], "removed": given or []},
        ):
            client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
        for uri in (URI, f"{NESTED[1]}/a.py", f"{NESTED[2]}/a.py", "file:///nowhere/a.py", "untitled:Untitled-1"):
            client.open(uri, "x = \n")
            assert texts(await client.inline(uri, 0, 4)) == ["1"]
        assert messages_to_user(client) == []


def _progress(message: dict[str, object]) -> object:
    params = message.get("params")
    return params["value"]["kind"] if message.get("method") == "$/progress" and isinstance(params, dict) else None
