"""One answer of a remote server, piece by piece, and what its refusals mean.

Whoever stops reading closes the connection, which is how a server learns that nobody wants the rest.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib import import_module
from typing import TYPE_CHECKING, Any

from midfill_engine import wire
from midfill_engine.errors import EngineError, EngineUnavailable, PresetError, RequestError
from midfill_engine.remote.kinds import KINDS, Ask, Piece
from midfill_engine.remote.place import KEY_VARIABLE, Place

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = 2**20
MOST_REASON = 200


class Asker:
    """Asks one place. Learns whether it tells how likely its tokens are: some servers refuse to."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._kind = KINDS[place.kind]
        self._wants_log_probs = True

    async def pieces(self, http: httpx2.AsyncClient, ask: Ask) -> AsyncGenerator[Piece]:
        """Raises EngineError that says what hinders it."""
        try:
            response = await self._begin(http, ask)
            try:
                async with aclosing(_events(response)) as events:
                    async for event in events:
                        _raise_error_in(event)
                        yield self._kind.piece(event)
            finally:
                await response.aclose()
        except import_module("httpx2").TransportError as error:
            reason = str(error) or type(error).__name__
            raise EngineUnavailable(f"{self._place.host} cannot be reached ({reason})") from None

    async def _begin(self, http: httpx2.AsyncClient, ask: Ask) -> httpx2.Response:
        response = await self._send(http, ask)
        if response.status_code in (400, 422) and self._wants_log_probs:
            await response.aclose()
            self._wants_log_probs = False
            response = await self._send(http, ask)
        if response.status_code != 200:
            body = await response.aread()
            await response.aclose()
            raise _refusal(response.status_code, body, self._place)
        return response

    async def _send(self, http: httpx2.AsyncClient, ask: Ask) -> httpx2.Response:
        body = self._kind.body(ask, self._place.model, self._wants_log_probs)
        return await http.send(http.build_request("POST", self._kind.url(self._place), json=body), stream=True)


async def _events(response: httpx2.Response) -> AsyncGenerator[dict[str, Any]]:
    """The objects of a stream of server-sent events, or the one object of a plain answer."""
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    kept: list[str] = []
    length = 0
    async for line in response.aiter_lines():
        length += len(line)
        if length > MOST_BYTES:
            return
        if not is_stream:
            kept.append(line)
        elif line.startswith("data:") and (data := line[5:].strip()) != "[DONE]":
            yield _object(data)
    if kept:
        yield _object("\n".join(kept))


def _object(text: str) -> dict[str, Any]:
    try:
        value = wire.load_json(text)
    except RequestError:
        value = None
    if not isinstance(value, dict):
        raise EngineError("the server's answer cannot be understood: is remoteKind right?")
    return value


def _raise_error_in(event: dict[str, Any]) -> None:
    if event.get("error"):
        raise EngineError(f"the server failed: {_reason(event['error'])}")


def _refusal(status: int, body: bytes, place: Place) -> EngineError:
    try:
        value = wire.load_json(body)
    except RequestError:
        value = None
    told = value.get("error") or value.get("detail") or value.get("message") if isinstance(value, dict) else None
    reason = _reason(told) if told else f"HTTP status {status}"
    if status in (401, 403):
        return PresetError(f"{place.host} refuses the key ({reason}): set {KEY_VARIABLE}")
    if status == 404:
        return PresetError(f"{place.host} does not know this path or model ({reason}): check remoteUrl, remoteKind")
    if status in (429, 503):
        return EngineUnavailable(f"{place.host} is busy ({reason})")
    return EngineError(f"{place.host} refuses ({reason})")


def _reason(error: object) -> str:
    message = error.get("message") if isinstance(error, dict) else error
    return " ".join(str(message).split())[:MOST_REASON]
