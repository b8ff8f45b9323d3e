"""A server of somebody else's: answers what a test says, in recorded shapes, and keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.types import Receive, Scope, Send

from support.scripted import PATIENCE_S


@dataclass
class RemoteServer:
    """`events`: data of server-sent events; with `is_open` none ends the answer, until the client leaves.
    `refusals`: statuses and bodies of the first requests. `plain`: one body instead of a stream."""

    events: Sequence[str] = ()
    refusals: list[tuple[int, Any]] = field(default_factory=list)
    plain: Any = None
    is_open: bool = False
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    said: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        body = await _body(receive)
        self.asked.append((scope["path"], headers, json.loads(body) if body else None))
        if self.refusals:
            status, value = self.refusals.pop(0)
            await _answer(send, status, "application/json", json.dumps(value))
        elif self.plain is not None:
            await _answer(send, 200, "application/json", json.dumps(self.plain))
        else:
            await self._stream(receive, send)

    async def _stream(self, receive: Receive, send: Send) -> None:
        text = "".join(f"data: {event}\n\n" for event in self.events)
        await _answer(send, 200, "text/event-stream", text, more_body=self.is_open)
        self.said.set()
        while self.is_open and (await receive())["type"] != "http.disconnect":
            pass
        self.left.set()


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    """The base URL of an ASGI application on loopback, on the test's own event loop."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            app, http="h11", ws="none", loop="asyncio", log_config=None, access_log=False, lifespan="off"
        )
        server = uvicorn.Server(config)
        task = asyncio.create_task(server._serve([listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await asyncio.wait_for(task, PATIENCE_S)


async def _body(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


async def _answer(send: Send, status: int, kind: str, text: str, *, more_body: bool = False) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind.encode())]})
    await send({"type": "http.response.body", "body": text.encode(), "more_body": more_body})
