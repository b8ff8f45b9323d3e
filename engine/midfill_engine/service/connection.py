"""How a client's HTTP library is set up for an engine's address.

One connection per request: closing it is how a fill is cancelled, and no connection of an engine that is gone lies in
a pool. The environment is not trusted: a proxy must never see what stays on this machine. The library is imported
when the first connection is made; it costs a language server's start more than everything else in it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from midfill_engine.service.record import Address
from midfill_engine.service.transport import LOOPBACK

if TYPE_CHECKING:
    import httpx2

CONNECT_PATIENCE_S = 5.0


def open_async(address: Address) -> httpx2.AsyncClient:
    """A client for requests that may take as long as they take: a dead engine closes its connections at once."""
    http = _library()
    transport = http.AsyncHTTPTransport(**_transport_options(http, address))
    timeout = http.Timeout(None, connect=CONNECT_PATIENCE_S)
    client: httpx2.AsyncClient = http.AsyncClient(transport=transport, timeout=timeout, **_client_options(address))
    return client


def transport_error() -> type[Exception]:
    """What the library raises when the connection cannot be made or breaks."""
    error: type[Exception] = _library().TransportError
    return error


def _library() -> Any:
    return import_module("httpx2")


def _transport_options(http: Any, address: Address) -> dict[str, Any]:
    # verify=False: there is no TLS here, and the certificates of the world need not be read for it.
    options = {"trust_env": False, "verify": False, "limits": http.Limits(max_keepalive_connections=0)}
    return options if address.port else options | {"uds": address.socket}


def _client_options(address: Address) -> dict[str, Any]:
    if not address.port:
        return {"base_url": "http://engine", "trust_env": False}
    headers = {"Authorization": f"Bearer {address.token}"}
    return {"base_url": f"http://{LOOPBACK}:{address.port}", "headers": headers, "trust_env": False}
