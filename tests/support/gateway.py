"""A gateway over a scripted engine behind a real HTTP server on loopback, on the test's own event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import uvicorn

from midfill_engine.api import Engine
from midfill_engine.gateway.app import make_app
from support.scripted import PATIENCE_S


@asynccontextmanager
async def gateway_at(engine: Engine, *, token: str = "", most_waiting: int = 64) -> AsyncIterator[str]:
    """Its base URL."""
    app = make_app(engine, "scripted", token=token, most_waiting=most_waiting)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, http="h11", ws="none", loop="asyncio", log_config=None, access_log=False)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server._serve([listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await asyncio.wait_for(serving, PATIENCE_S)


@asynccontextmanager
async def client_of(engine: Engine, *, token: str = "", most_waiting: int = 64) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of such a gateway that shows no token by itself."""
    async with (
        gateway_at(engine, token=token, most_waiting=most_waiting) as url,
        httpx2.AsyncClient(base_url=url, trust_env=False, timeout=PATIENCE_S) as client,
    ):
        yield client
