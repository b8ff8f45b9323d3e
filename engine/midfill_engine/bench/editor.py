"""What a user of an editor waits for: the real server over stdio, the real engine process behind it, real keystrokes.

The server is any command that speaks LSP on stdio; this module knows the protocol's few messages that it sends and
nothing of the server's code.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

from midfill_engine.api import Engine
from midfill_engine.bench.holes import line_holes
from midfill_engine.bench.timing import Series

_URI = "untitled:midfill-bench-{}.py"
_NUM_FILES = 4
_KEYS_PER_S = 8.0
_PATIENCE_S = 60.0
_LARGE_BYTES = 5 * 2**20
_LARGE_LINE = "value = compute(value, 12345)  # a line like many others\n"


class LspClient:
    """Just enough of a client: requests, notifications, answers by id; everything else that comes is dropped."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._next_id = 0
        self._reader = asyncio.create_task(self._read())

    def notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, params: object) -> asyncio.Future[Any]:
        self._next_id += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[self._next_id] = answer
        self._send({"id": self._next_id, "method": method, "params": params})
        return answer

    async def aclose(self) -> None:
        with contextlib.suppress(ConnectionError, TimeoutError):
            await asyncio.wait_for(self.request("shutdown", None), 5)
            self.notify("exit", None)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), 5)
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader

    def _send(self, message: dict[str, object]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while True:
            try:
                header = await self._process.stdout.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return
            length = int(header.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            self._take(json.loads(await self._process.stdout.readexactly(length)))

    def _take(self, message: dict[str, Any]) -> None:
        if "method" in message:
            if "id" in message:  # a question of the server's: configuration, progress
                answer = [None] * len(message.get("params", {}).get("items", [])) or None
                self._send({"id": message["id"], "result": answer})
            return
        waiting = self._waiting.pop(message["id"], None)
        if waiting is not None and not waiting.done():
            waiting.set_result(message)


@contextlib.asynccontextmanager
async def serving(command: list[str], settings: dict[str, object], start: Series) -> AsyncIterator[LspClient]:
    """A started and initialized server; how long it took to answer `initialize` goes to `start`."""
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    client = LspClient(process)
    try:
        params = {
            "processId": None,
            "rootUri": None,
            "capabilities": {"textDocument": {"inlineCompletion": {"dynamicRegistration": False}}},
            "initializationOptions": settings,
        }
        await asyncio.wait_for(client.request("initialize", params), _PATIENCE_S)
        start.values.append(1000 * (time.perf_counter() - began))
        client.notify("initialized", {})
        yield client
    finally:
        await client.aclose()


def server_command() -> list[str]:
    """The server of this very installation."""
    return [sys.executable, "-P", "-m", "midfill_server", "serve"]


async def measure_typing(client: LspClient, num_keys: int, seed: int) -> tuple[Series, int]:
    """Type real lines of several files at 8 keys a second, asking after each key; how long the answered requests took,
    and how many keys were typed."""
    series, num_typed = Series("key to ghost text, 8 keys/s"), 0
    for number, hole in enumerate(line_holes(_NUM_FILES, seed)):
        typed = _Typing(client, hole.prefix[-4000:], hole.suffix[:2000], _URI.format(number))
        await typed.warm_up()
        text = (hole.middle + "\n" + hole.suffix)[: -(-num_keys // _NUM_FILES)]
        num_typed += len(text)
        pending: list[asyncio.Task[None]] = []
        for key in text:
            pending.append(asyncio.create_task(typed.press(key, series)))
            await asyncio.sleep(1 / _KEYS_PER_S)
        await asyncio.gather(*pending)
    return series, num_typed


async def measure_type_through(client: LspClient, engine: Engine, num_keys: int, seed: int) -> Series:
    """Type what is suggested, asking after each key; round trips of those that the engine was not asked for."""
    series = Series("typing what is suggested")
    for number, hole in enumerate(line_holes(num_keys, seed)):
        typed = _Typing(client, hole.prefix[-4000:], hole.suffix[:2000], _URI.format(f"through-{number}"))
        await typed.warm_up()
        suggested = await typed.suggestion()
        before = (await engine.status()).num_fills
        took = [await typed.press_and_wait(key, 2) for key in suggested[:-1]]
        if (await engine.status()).num_fills == before:
            series.values += took
        if len(series.values) >= num_keys:
            break
    return series


async def measure_large_file(client: LspClient, num_keys: int) -> Series:
    """Type in the middle of a file of 5 MB; after each key something that the server refuses at once is asked, which
    it can only do when it has taken in the key."""
    series, lines = Series("a key in a file of 5 MB"), _LARGE_BYTES // len(_LARGE_LINE)
    uri = _URI.format("large")
    document = {"uri": uri, "languageId": "python", "version": 1, "text": _LARGE_LINE * lines}
    client.notify("textDocument/didOpen", {"textDocument": document})
    await asyncio.wait_for(client.request("midfill/nothing", None), _PATIENCE_S)
    for number in range(num_keys):
        position = {"line": lines // 2, "character": number}
        change = {"range": {"start": position, "end": position}, "text": "x"}
        began = time.perf_counter()
        versioned = {"uri": uri, "version": number + 2}
        client.notify("textDocument/didChange", {"textDocument": versioned, "contentChanges": [change]})
        await asyncio.wait_for(client.request("midfill/nothing", None), _PATIENCE_S)
        series.values.append(1000 * (time.perf_counter() - began))
    return series


class _Typing:
    """A document that grows at the cursor."""

    def __init__(self, client: LspClient, before: str, after: str, uri: str = _URI.format(0)) -> None:
        self._client = client
        self._uri = uri
        self._before, self._after, self._version = before, after, 1
        document = {"uri": uri, "languageId": "python", "version": 1, "text": before + after}
        client.notify("textDocument/didOpen", {"textDocument": document})

    async def warm_up(self) -> None:
        """Ask until the model is there and something comes back, or it is clear that nothing will."""
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until:
            if (await self._ask(1))["result"]["items"]:
                return
            await asyncio.sleep(0.5)

    async def suggestion(self) -> str:
        """What is suggested at the cursor, its first line."""
        items = (await self._ask(2))["result"]["items"]
        return str(items[0]["insertText"]).partition("\n")[0] if items else ""

    async def press_and_wait(self, key: str, trigger_kind: int = 1) -> float:
        """Type `key` and ask for a fill, in so many words unless told otherwise; milliseconds until the answer."""
        self._type(key)
        began = time.perf_counter()
        await self._ask(trigger_kind)
        return 1000 * (time.perf_counter() - began)

    async def press(self, key: str, series: Series) -> None:
        """Type `key` and ask; an answer without items is no ghost text, and not counted."""
        self._type(key)
        began = time.perf_counter()
        answer = await self._ask(2)
        if answer.get("result", {}).get("items"):
            series.values.append(1000 * (time.perf_counter() - began))

    def _type(self, key: str) -> None:
        position = self._position()
        self._before += key
        self._version += 1
        change = {"range": {"start": position, "end": position}, "text": key}
        document = {"uri": self._uri, "version": self._version}
        self._client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    async def _ask(self, trigger_kind: int) -> dict[str, Any]:
        params = {
            "textDocument": {"uri": self._uri},
            "position": self._position(),
            "context": {"triggerKind": trigger_kind},
        }
        answer = self._client.request("textDocument/inlineCompletion", params)
        message: dict[str, Any] = await asyncio.wait_for(answer, _PATIENCE_S)
        return message

    def _position(self) -> dict[str, int]:
        """In UTF-16 units; what is typed here is all ASCII."""
        return {"line": self._before.count("\n"), "character": len(self._before) - self._before.rfind("\n") - 1}


async def measure_overhead(client: LspClient, engine: Engine, num: int, seed: int) -> tuple[Series, Series]:
    """Asked for in so many words: round trips of single requests, and what of each the engine did not need."""
    whole, overhead = Series("round trip, asked for"), Series("of that, server and protocol")
    hole = line_holes(1, seed)[0]
    typed = _Typing(client, hole.prefix[-4000:], hole.suffix[:2000])
    await typed.warm_up()
    for key in (hole.middle + "\n" + hole.suffix)[:num]:
        before = await engine.status()
        spent = await typed.press_and_wait(key)
        after = await engine.status()
        if after.num_fills == before.num_fills + 1:  # else it came from the server's own memory
            whole.values.append(spent)
            overhead.values.append(spent - 1000 * after.last_fill_s)
    return whole, overhead
