"""The engine's HTTP endpoints, over any Engine that can also be told to load.

    POST /v1/fill[?drafts=true]   a FillRequest; answers lines: {"draft": …}*, then {"result": …} or {"error": …}
    POST /v1/load                 answers lines: {"progress": …, "message": …}*, then {"status": …} or {"error": …}
    GET  /v1/status               an EngineStatus, at once
    POST /v1/stop                 ends the process
    GET  /health                  that somebody is there, and of which version

The headers of a stream are sent before the work begins: a client that has seen none knows that nothing was begun. A
client that closes its connection cancels the fill. Who may ask is the transport's to say; what is in a request is
`wire`'s.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from midfill_engine import __version__, wire
from midfill_engine.api import Draft, Engine, EngineError, EngineUnavailable, FillRequest, RequestError
from midfill_engine.core import OnProgress
from midfill_engine.service.transport import Transport

logger = logging.getLogger(__name__)


class LoadableEngine(Engine, Protocol):
    """An Engine whose model can be loaded before it is needed."""

    async def load(self, on_progress: OnProgress | None = None) -> None: ...


class Ending(Protocol):
    """The end of the process: asking for it, and whether it has come. A process that ends begins nothing new, so that
    its clients look for another one instead of being cut off."""

    def end(self) -> None: ...

    def is_ending(self) -> bool: ...


Say = Callable[[dict[str, object]], None]
"""Sends one line of a stream."""


class LineStream:
    """A response of JSON lines by a task that ends with the connection, whichever ends first."""

    def __init__(self, work: Callable[[Say], Awaitable[None]]) -> None:
        self._work = work
        self._lines: asyncio.Queue[dict[str, object] | None] = asyncio.Queue()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"application/x-ndjson")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self._run())
            watch = group.create_task(self._cancel_when_gone(receive, task))
            await self._pump(send)
            watch.cancel()

    async def _run(self) -> None:
        try:
            await self._work(self._lines.put_nowait)
        except EngineError as error:
            self._lines.put_nowait({"error": wire.error_to_wire(error)})
        except Exception as error:
            logger.error("a request failed with %s", type(error).__name__)
            self._lines.put_nowait({"error": wire.error_to_wire(EngineError("the engine failed; its log says where"))})
        finally:
            self._lines.put_nowait(None)

    async def _cancel_when_gone(self, receive: Receive, task: asyncio.Task[None]) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        task.cancel()
        self._lines.put_nowait(None)  # a task that is cancelled before it began says nothing

    async def _pump(self, send: Send) -> None:
        while (line := await self._lines.get()) is not None:
            await send({"type": "http.response.body", "body": wire.dump_line(line), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class Gatekeeper:
    """Asks the transport about every request before anything else is done with it."""

    def __init__(self, app: ASGIApp, transport: Transport) -> None:
        self._app = app
        self._transport = transport

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope.get("headers", [])}
        reason = self._transport.refusal(headers)
        if reason:
            await _error(RequestError(reason), 403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


class Endpoints:
    """What each path does."""

    def __init__(self, engine: LoadableEngine, ending: Ending) -> None:
        self._engine = engine
        self._ending = ending

    async def fill(self, request: Request) -> Response | LineStream:
        if self._ending.is_ending():
            return _ending()
        wants_drafts = request.query_params.get("drafts") == "true"
        try:
            fill_request = wire.parse(await _body(request), FillRequest)
        except RequestError as error:
            return _error(error, 400)
        except ClientDisconnect:
            return Response(status_code=400)

        async def work(say: Say) -> None:
            def on_draft(draft: Draft) -> None:
                say({"draft": wire.to_wire(draft)})

            result = await self._engine.fill(fill_request, on_draft if wants_drafts else None)
            say({"result": wire.to_wire(result)})

        return LineStream(work)

    async def load(self, _request: Request) -> Response | LineStream:
        if self._ending.is_ending():
            return _ending()

        async def work(say: Say) -> None:
            await self._engine.load(lambda share, message: say({"progress": share, "message": message}))
            say({"status": wire.to_wire(await self._engine.status())})

        return LineStream(work)

    async def status(self, _request: Request) -> Response:
        return _json(wire.to_wire(await self._engine.status()))

    async def stop(self, _request: Request) -> Response:
        self._ending.end()
        return _json({"stopping": True})

    async def health(self, _request: Request) -> Response:
        if self._ending.is_ending():
            return _ending()
        return _json({"ok": True, "version": __version__})


def make_app(engine: LoadableEngine, transport: Transport, ending: Ending) -> Starlette:
    """The ASGI application."""
    endpoints = Endpoints(engine, ending)
    return Starlette(
        routes=[
            Route("/v1/fill", endpoints.fill, methods=["POST"]),
            Route("/v1/load", endpoints.load, methods=["POST"]),
            Route("/v1/status", endpoints.status, methods=["GET"]),
            Route("/v1/stop", endpoints.stop, methods=["POST"]),
            Route("/health", endpoints.health, methods=["GET"]),
        ],
        middleware=[Middleware(Gatekeeper, transport=transport)],
    )


def _json(value: object, status: int = 200) -> Response:
    return Response(wire.dump_line(value), status_code=status, media_type="application/json")


def _error(error: EngineError, status: int) -> Response:
    return _json({"error": wire.error_to_wire(error)}, status)


def _ending() -> Response:
    return _error(EngineUnavailable("the engine is ending"), 503)


async def _body(request: Request) -> bytes:
    parts = []
    length = 0
    async for part in request.stream():
        length += len(part)
        if length > wire.MAX_BYTES:
            raise RequestError(wire.TOO_LARGE)
        parts.append(part)
    return b"".join(parts)
