"""A small language client over the stdio of a real process: it can also say what no well-behaved client would.

    async with LspClient.run([sys.executable, "-m", "midfill_server"]) as client:
        await client.initialize()
        client.open("file:///a.py", "x = ")
        items = (await client.inline("file:///a.py", 0, 4))["items"]

Requests of the server are answered by `answers`, or from `configuration`. Whatever is waited for fails loudly after
PATIENCE_S.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import IO, Any

from support.scripted import PATIENCE_S

Message = dict[str, Any]
INLINE = "textDocument/inlineCompletion"
NEOVIM: Message = {
    "general": {"positionEncodings": ["utf-8", "utf-16", "utf-32"]},
    "textDocument": {"inlineCompletion": {"dynamicRegistration": False}},
    "workspace": {"configuration": True},
}


class LspError(Exception):
    """The server answered with an error."""

    def __init__(self, error: Message) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]


class LspClient:
    """One connection to one server process."""

    def __init__(self, process: asyncio.subprocess.Process, events: asyncio.StreamReader) -> None:
        self.process = process
        self.configuration: Any = None
        self.answers: dict[str, Callable[[Any], Any]] = {}
        self.messages: list[Message] = []
        self.events: list[Message] = []
        self._changed = asyncio.Condition()
        self._next_id = 0
        self._reading_messages = asyncio.ensure_future(self._read_messages())
        self._reading_events = asyncio.ensure_future(self._read_events(events))

    @classmethod
    @asynccontextmanager
    async def run(
        cls, command: Sequence[str], env: dict[str, str] | None = None, stderr: IO[bytes] | None = None
    ) -> AsyncIterator[LspClient]:
        """Start a server. It may tell events as lines of JSON on the file descriptor $EVENTS_FD."""
        read_end, write_end = os.pipe()
        state = tempfile.TemporaryDirectory(prefix="midfill-state-")  # never the user's own
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env={"XDG_STATE_HOME": state.name, **os.environ, **(env or {}), "EVENTS_FD": str(write_end)},
            pass_fds=[write_end],
            limit=2**26,
        )
        os.close(write_end)
        events = asyncio.StreamReader(limit=2**26)
        pipe = os.fdopen(read_end, "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(events), pipe
        )
        client = cls(process, events)
        try:
            yield client
        finally:
            await client._close()
            transport.close()
            pipe.close()
            state.cleanup()

    # What a client says.

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def send_body(self, body: bytes) -> None:
        self.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def send(self, message: Any) -> None:
        self.send_body(json.dumps(message).encode())

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Any = None) -> int:
        """Send a request; its id."""
        self._next_id += 1
        self.send({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params})
        return self._next_id

    async def request(self, method: str, params: Any = None) -> Any:
        """Send a request and wait for its result; LspError if the server answers with one."""
        return await self.result(self.ask(method, params))

    async def result(self, request_id: int | str) -> Any:
        """The result of a request that was sent."""
        reply = await self.message(lambda message: message.get("id") == request_id and "method" not in message)
        assert ("result" in reply) != ("error" in reply), reply
        if "error" in reply:
            raise LspError(reply["error"])
        return reply["result"]

    async def initialize(self, capabilities: Message | None = None, **params: Any) -> Message:
        """Say hello as Neovim does, and wish to be told the status."""
        said = _with_status(NEOVIM if capabilities is None else capabilities)
        given = {"processId": None, "rootUri": None, "capabilities": said}
        result: Message = await self.request("initialize", given | params)
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, language: str = "python") -> None:
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, text: str, at: tuple[int, int, int, int] | None = None) -> None:
        """Replace the range `at` (line, character, line, character), or everything."""
        change: Message = {"text": text}
        if at is not None:
            change["range"] = {
                "start": {"line": at[0], "character": at[1]},
                "end": {"line": at[2], "character": at[3]},
            }
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    def ask_inline(self, uri: str, line: int, character: int, kind: int = 2) -> int:
        """Ask for ghost text; the request's id."""
        return self.ask(INLINE, inline_params(uri, line, character, kind))

    async def inline(self, uri: str, line: int, character: int, kind: int = 2) -> Message:
        """Ask for ghost text and wait for the list."""
        result: Message = await self.result(self.ask_inline(uri, line, character, kind))
        return result

    # What a client waits for.

    async def message(self, is_it: Callable[[Message], bool], patience_s: float = PATIENCE_S) -> Message:
        """The first message of the server, of all so far and to come, that is the one."""
        return await self._first(self.messages, is_it, patience_s)

    async def event(self, is_it: Callable[[Message], bool]) -> Message:
        """The first event that is the one."""
        return await self._first(self.events, is_it, PATIENCE_S)

    async def status(self, patience_s: float = PATIENCE_S, **fields: Any) -> Message:
        """The first didChangeStatus with these fields."""
        found = await self.message(
            lambda message: message.get("method") == "didChangeStatus" and fields.items() <= message["params"].items(),
            patience_s,
        )
        params: Message = found["params"]
        return params

    async def ended(self) -> tuple[int, float]:
        """The exit code, and how many seconds it took the process to end from now."""
        begun = time.monotonic()
        async with asyncio.timeout(PATIENCE_S):
            code = await self.process.wait()
        return code, time.monotonic() - begun

    async def events_ended(self) -> None:
        """Wait until no process has the events' file descriptor any more."""
        async with asyncio.timeout(PATIENCE_S):
            await self._reading_events

    async def _first(self, kept: list[Message], is_it: Callable[[Message], bool], patience_s: float) -> Message:
        async with asyncio.timeout(patience_s), self._changed:
            while not (found := [message for message in kept if is_it(message)]):
                await self._changed.wait()
        return found[0]

    async def _read_messages(self) -> None:
        assert self.process.stdout is not None
        while (body := await _read_body(self.process.stdout)) is not None:
            message = json.loads(body)
            if "method" in message and "id" in message:
                self._answer(message)
            await self._keep(self.messages, message)

    async def _read_events(self, events: asyncio.StreamReader) -> None:
        while line := await events.readline():
            await self._keep(self.events, json.loads(line))

    async def _keep(self, kept: list[Message], message: Message) -> None:
        async with self._changed:
            kept.append(message)
            self._changed.notify_all()

    def _answer(self, message: Message) -> None:
        result = None
        if message["method"] in self.answers:
            result = self.answers[message["method"]](message["params"])
        elif message["method"] == "workspace/configuration":
            result = [self.configuration for _ in message["params"]["items"]]
        self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    async def _close(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        for task in (self._reading_messages, self._reading_events):
            task.cancel()
        await asyncio.gather(self._reading_messages, self._reading_events, return_exceptions=True)
        # asyncio waits for pipes that a process's child may hold open: they are closed at this end.
        self.process._transport.close()  # type: ignore[attr-defined]
        await self.process.wait()
        await asyncio.sleep(0)


def _with_status(capabilities: Message) -> Message:
    experimental = capabilities.get("experimental", {})
    ours = {"status": True} | experimental.get("midfill", {})
    return capabilities | {"experimental": experimental | {"midfill": ours}}


def inline_params(uri: str, line: int, character: int, kind: int = 2) -> Message:
    """The params of a request for ghost text."""
    return {
        "textDocument": {"uri": uri},
        "position": {"line": line, "character": character},
        "context": {"triggerKind": kind},
    }


def applied(text: str, item: Message, encoding: str = "utf-8") -> str:
    """The text of a client after it has accepted an item: cut in the client's own units."""
    start, end = item["range"]["start"], item["range"]["end"]
    assert start["line"] == end["line"], item
    assert 0 <= start["character"] <= end["character"], item
    lines = text.split("\n")
    row = start["line"]
    units = lines[row].encode(f"{encoding}-le" if encoding != "utf-8" else encoding)
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    assert end["character"] * width <= len(units), item
    head, tail = units[: start["character"] * width], units[end["character"] * width :]
    decode = f"{encoding}-le" if encoding != "utf-8" else encoding
    lines[row] = head.decode(decode) + item["insertText"] + tail.decode(decode)
    return "\n".join(lines)


async def _read_body(stream: asyncio.StreamReader) -> bytes | None:
    length = 0
    while line := await stream.readline():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
        elif not line.strip():
            return await stream.readexactly(length)
    return None
