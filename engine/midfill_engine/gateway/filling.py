"""One request from its body to the last byte of its answer, in whatever dialect.

A client that closes its connection cancels the fill before its next step. More requests than `most_waiting` are told to
come again rather than left to wait. A failure is said in the dialect's own shape; the unexpected is logged by its kind
only, never with the user's text.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.types import Receive, Scope, Send

from midfill_engine import wire
from midfill_engine.api import Engine, EngineError, EngineUnavailable, FillResult, Finish, RequestError
from midfill_engine.gateway.ask import Ask, Dialect, answer_of
from midfill_engine.gateway.metrics import Metrics

logger = logging.getLogger(__name__)

GONE = 499
RETRY_AFTER_S = 1
_NOTHING = FillResult(candidates=(), finish=Finish.EMPTY)


class Busy(EngineUnavailable):
    """More wait than can be served soon."""


class _Gone(Exception):  # noqa: N818 - nobody is left to be told an error
    """The client has closed its connection."""


@dataclass(frozen=True, kw_only=True)
class Filling:
    """The ASGI application of one path."""

    engine: Engine
    dialect: Dialect
    metrics: Metrics
    most_waiting: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status = 500
        try:
            status = await self._serve(receive, send)
        except _Gone:
            status = GONE
        except RequestError as error:
            status = await self._fail(send, str(error), 400)
        except EngineUnavailable as error:
            status = await self._fail(send, str(error), 503)
        except EngineError as error:
            status = await self._fail(send, str(error), 500)
        except Exception as error:
            logger.error("a request failed with %s", type(error).__name__)
            status = await self._fail(send, "the gateway failed; its log says where", 500)
        finally:
            self.metrics.count(str(scope["path"]), status)

    async def _serve(self, receive: Receive, send: Send) -> int:
        ask = self.dialect.read(await _body(receive))
        result = await self._fill_while_there(ask, receive)
        answer = answer_of(ask, result)
        if ask.is_stream:
            await _stream(send, list(self.dialect.events(ask, answer)))
        else:
            await _whole(send, 200, self.dialect.answer(ask, answer))
        return 200

    async def _fill_while_there(self, ask: Ask, receive: Receive) -> FillResult:
        if ask.request is None:
            return _NOTHING
        if self.metrics.num_waiting >= self.most_waiting:
            raise Busy(f"{self.metrics.num_waiting} requests wait already; try again in {RETRY_AFTER_S} s")
        began = time.perf_counter()
        self.metrics.num_waiting += 1
        fill = asyncio.ensure_future(self.engine.fill(ask.request))
        gone = asyncio.ensure_future(_until_gone(receive))
        try:
            await asyncio.wait((fill, gone), return_when=asyncio.FIRST_COMPLETED)
            if not fill.done():
                raise _Gone
            self.metrics.observe(fill.result(), time.perf_counter() - began)
            return fill.result()
        finally:
            self.metrics.num_waiting -= 1
            await _end(fill, gone)

    async def _fail(self, send: Send, message: str, status: int) -> int:
        headers = {"retry-after": str(RETRY_AFTER_S)} if status == 503 else {}
        await _whole(send, status, self.dialect.error(" ".join(message.split()), status), headers)
        return status


async def _end(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(receive: Receive) -> bytes:
    parts, length = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        parts.append(message.get("body", b""))
        length += len(parts[-1])
        if length > wire.MAX_BYTES:
            raise RequestError(wire.TOO_LARGE)
        if not message.get("more_body", False):
            return b"".join(parts)


async def _whole(send: Send, status: int, value: object, headers: Mapping[str, str] | None = None) -> None:
    every = {"content-type": "application/json", **(headers or {})}
    body = json.dumps(value).encode("ascii")
    await send({"type": "http.response.start", "status": status, "headers": _raw(every)})
    await send({"type": "http.response.body", "body": body})


async def _stream(send: Send, events: list[str]) -> None:
    headers = {"content-type": "text/event-stream", "cache-control": "no-cache"}
    await send({"type": "http.response.start", "status": 200, "headers": _raw(headers)})
    for event in events:
        await send({"type": "http.response.body", "body": f"data: {event}\n\n".encode("ascii"), "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]
