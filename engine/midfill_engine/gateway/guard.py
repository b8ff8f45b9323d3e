"""Who may ask, judged by a request's headers alone, before anything of it is read.

On loopback every program of this machine may ask, as with llama.cpp's server; but a web page must not, neither by
naming its own host as if it were loopback (DNS rebinding) nor by sending forms to it. Off loopback a token is shown.
No header ever invites another origin (CORS stays off).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})


class Guard:
    """`token` empty: none is asked for. `is_loopback`: nobody else can reach us, so only a loopback host is named."""

    def __init__(self, app: ASGIApp, token: str, *, is_loopback: bool) -> None:
        self._app = app
        self._token = token
        self._is_loopback = is_loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope.get("headers", [])}
        status, reason = self._refusal(headers, str(scope["path"]))
        if status:
            await _refuse(send, status, reason)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, headers: Mapping[str, str], path: str) -> tuple[int, str]:
        if self._is_loopback and _host_name(headers.get("host", "")) not in LOOPBACK_HOSTS:
            return 403, "the host must be the loopback interface"
        if headers.get("origin", "").startswith(("http://", "https://")) or headers.get("origin") == "null":
            return 403, "web pages are not served"
        if self._token and path != "/health" and not self._is_shown(headers):
            return 401, "the token is missing or wrong"
        return 0, ""

    def _is_shown(self, headers: Mapping[str, str]) -> bool:
        shown = headers.get("authorization", "").encode("utf-8", "replace")
        return secrets.compare_digest(shown, f"Bearer {self._token}".encode())


def _host_name(host: str) -> str:
    name, _, port = host.rpartition(":")
    return (name if name and port.isdecimal() else host).lower()


async def _refuse(send: Send, status: int, reason: str) -> None:
    # A shape that both families of clients read: OpenAI's has `type`, llama.cpp's has `code` beside it.
    error = {"message": reason, "type": "authentication_error", "param": None, "code": status}
    headers = [(b"content-type", b"application/json")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": error}).encode()})
