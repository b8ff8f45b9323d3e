"""ServiceEngine: the Engine Protocol over HTTP to a process that is found, or started, when it is first needed.

A request that was not begun (no headers were seen) is asked once more of a process that was found or started anew:
the old one may have ended when idle, or with its machine's session. A request that was begun and breaks off is not:
its engine died of something, perhaps of this request, so the caller is told at once and the next request starts a new
engine.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from midfill_engine import wire
from midfill_engine.api import Draft, EngineOptions, EngineStatus, FillRequest, FillResult, OnDraft
from midfill_engine.core import OnProgress
from midfill_engine.errors import EngineUnavailable, RequestError
from midfill_engine.service import record as records
from midfill_engine.service.connection import open_async, transport_error
from midfill_engine.service.launch import Command, find_or_start, usual_command
from midfill_engine.service.places import places_of
from midfill_engine.service.probe import may_answer
from midfill_engine.service.record import Record

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

STATUS_PATIENCE_S = 5.0
# The engine is ending, or it is another one that has our port: ask the right one.
NOT_BEGUN = (503, 403)


class ServiceEngine:
    """An Engine in a process of its own, shared by all clients of the user. Belongs to one event loop."""

    def __init__(self, options: EngineOptions, command: Command = usual_command) -> None:
        self._options = options
        self._command = command
        # Two windows that do not say who they are must not overtake each other.
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._found: Record | None = None
        self._http: httpx2.AsyncClient | None = None
        self._outdated: list[httpx2.AsyncClient] = []

    async def fill(self, request: FillRequest, on_draft: OnDraft | None = None) -> FillResult:
        named = replace(request, client=request.client or self._name)
        content = wire.dump_line(wire.to_wire(named))
        if len(content) > wire.MAX_BYTES:
            raise RequestError(wire.TOO_LARGE)
        async with aclosing(self._lines("/v1/fill?drafts=true" if on_draft else "/v1/fill", content)) as lines:
            async for line in lines:
                if "result" in line:
                    return wire.from_wire(line["result"], FillResult)
                if on_draft is not None and "draft" in line:
                    on_draft(wire.from_wire(line["draft"], Draft))
        raise self._broken_off()

    async def load(self, on_progress: OnProgress | None = None) -> EngineStatus:
        """Have the engine started and its model loaded; tells how far it is. Raises what hinders it."""
        async with aclosing(self._lines("/v1/load", b"")) as lines:
            async for line in lines:
                if "status" in line:
                    return wire.from_wire(line["status"], EngineStatus)
                if on_progress is not None and "progress" in line:
                    on_progress(float(line["progress"]), str(line["message"]))
        raise self._broken_off()

    async def status(self) -> EngineStatus:
        """What the engine is doing. Starts none: EngineUnavailable if none is running."""
        found = records.read(places_of(self._options).record)
        if found is None or not may_answer(found):
            raise EngineUnavailable("no engine is running")
        try:
            return await status_at(self._http_for(found))
        except transport_error():
            raise EngineUnavailable("no engine is running") from None

    async def aclose(self) -> None:
        for http in (*self._outdated, self._http):
            if http is not None:
                await http.aclose()
        self._outdated.clear()
        self._http = self._found = None

    async def _lines(self, path: str, content: bytes) -> AsyncGenerator[dict[str, Any]]:
        """The lines of a stream. Closing the iterator closes the connection, which cancels the work."""
        response = await self._begin(path, content)
        try:
            if response.status_code != 200:
                raise wire.error_from_wire(_error_in(await response.aread()))
            async for line in response.aiter_lines():
                value = wire.load_json(line)
                if "error" in value:
                    raise wire.error_from_wire(value["error"])
                yield value
        except transport_error():
            raise self._broken_off() from None
        finally:
            await response.aclose()

    async def _begin(self, path: str, content: bytes) -> httpx2.Response:
        if self._http is not None and self._found is not None and may_answer(self._found):
            response = await self._ask(self._http, path, content)
            if response is not None:
                return response
        found = await in_thread(lambda: find_or_start(self._options, self._command))
        response = await self._ask(self._http_for(found), path, content)
        if response is None:
            raise EngineUnavailable("the engine ended before it answered; the next request starts it again")
        return response

    async def _ask(self, http: httpx2.AsyncClient, path: str, content: bytes) -> httpx2.Response | None:
        """The response with its headers, its body still to come; None: nothing was begun."""
        headers = {"content-type": "application/json"}
        try:
            response = await http.send(http.build_request("POST", path, content=content, headers=headers), stream=True)
        except transport_error():
            return None
        if response.status_code in NOT_BEGUN:
            await response.aclose()
            return None
        return response

    def _http_for(self, found: Record) -> httpx2.AsyncClient:
        if self._http is None or self._found is None or found.address != self._found.address:
            if self._http is not None:
                self._outdated.append(self._http)  # somebody may still be reading from it
            self._http = open_async(found.address)
        self._found = found
        return self._http

    def _broken_off(self) -> EngineUnavailable:
        log = places_of(self._options).log
        return EngineUnavailable(f"the engine ended during the request; the next one starts it again (log: {log})")


async def status_at(http: httpx2.AsyncClient, patience_s: float = STATUS_PATIENCE_S) -> EngineStatus:
    """The status of the engine there. Raises the library's transport error, or EngineUnavailable if it refuses."""
    response = await http.get("/v1/status", timeout=patience_s)
    if response.status_code != 200:
        raise EngineUnavailable("the engine refuses to answer")
    return wire.parse(response.content, EngineStatus)


async def in_thread(call: Callable[[], T]) -> T:
    """A blocking call's result, in a daemon thread: a program that ends waits for those of asyncio.to_thread."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def give(set_outcome: Callable[[Any], None], outcome: object) -> None:
        if not future.done():
            set_outcome(outcome)

    def run() -> None:
        try:
            outcome: tuple[Callable[[Any], None], object] = (future.set_result, call())
        except Exception as error:
            outcome = (future.set_exception, error)
        with suppress(RuntimeError):  # the loop may be gone meanwhile
            loop.call_soon_threadsafe(give, *outcome)

    threading.Thread(target=run, name="midfill-engine-start", daemon=True).start()
    return await future


def _error_in(body: bytes) -> object:
    with suppress(RequestError):
        value = wire.load_json(body)
        if isinstance(value, dict):
            return value.get("error")
    return None
