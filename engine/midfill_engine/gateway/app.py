"""The gateway's paths, over any Engine.

POST /infill                              llama.cpp: llama.vim, llama.vscode
POST /completion, /completions            llama.cpp with marks in the prompt: Continue, Twinny
POST /v1/completions                      OpenAI: Zed, minuet-ai, Continue, Twinny, the openai library
POST /v1/fim/completions                  Mistral: minuet-ai's codestral, Continue's mistral
GET  /v1/models, /props, /health, /metrics
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from midfill_engine import __version__
from midfill_engine.api import Engine, EngineError, EngineState
from midfill_engine.gateway.ask import Dialect
from midfill_engine.gateway.filling import RETRY_AFTER_S, Filling
from midfill_engine.gateway.guard import Guard
from midfill_engine.gateway.llamacpp import LlamaCpp
from midfill_engine.gateway.metrics import Metrics
from midfill_engine.gateway.openai import OpenAI

MOST_WAITING = 64

_DIALECTS: dict[str, Dialect] = {
    "/infill": LlamaCpp(is_infill=True),
    "/completion": LlamaCpp(is_infill=False),
    "/completions": LlamaCpp(is_infill=False),
    "/v1/completions": OpenAI(),
    "/v1/fim/completions": OpenAI(is_chat=True),
}


class Facts:
    """What is asked about the gateway itself. `preset`: what is served, also before its engine runs."""

    def __init__(self, engine: Engine, metrics: Metrics, preset: str) -> None:
        self._engine = engine
        self._metrics = metrics
        self._preset = preset

    async def models(self, _request: Request) -> Response:
        model = {"id": self._preset, "object": "model", "created": 0, "owned_by": "midfill"}
        return JSONResponse({"object": "list", "data": [model]})

    async def props(self, _request: Request) -> Response:
        return JSONResponse({"model_path": self._preset, "total_slots": 1, "build_info": f"midfill {__version__}"})

    async def health(self, _request: Request) -> Response:
        """llama.cpp's words: 503 while the model is loaded or cannot be. An engine that rests starts when asked."""
        try:
            status = await self._engine.status()
        except EngineError:
            return JSONResponse({"status": "ok"})
        if status.state in (EngineState.READY, EngineState.BUSY):
            return JSONResponse({"status": "ok"})
        message = "Loading model" if status.state is EngineState.LOADING else status.message
        error = {"code": 503, "message": message, "type": "unavailable_error"}
        return JSONResponse({"error": error}, 503, {"retry-after": str(RETRY_AFTER_S)})

    async def metrics(self, _request: Request) -> Response:
        return PlainTextResponse(self._metrics.text(), media_type="text/plain; version=0.0.4")


def make_app(
    engine: Engine,
    preset: str,
    *,
    token: str = "",
    is_loopback: bool = True,
    most_waiting: int = MOST_WAITING,
    metrics: Metrics | None = None,
) -> Starlette:
    """The ASGI application; closes the engine's client when it ends."""
    metrics = metrics or Metrics()
    facts = Facts(engine, metrics, preset)
    routes: list[BaseRoute] = [
        Route("/v1/models", facts.models, methods=["GET"]),
        Route("/props", facts.props, methods=["GET"]),
        Route("/health", facts.health, methods=["GET"]),
        Route("/metrics", facts.metrics, methods=["GET"]),
    ]
    for path, dialect in _DIALECTS.items():
        filling = Filling(engine=engine, dialect=dialect, metrics=metrics, most_waiting=most_waiting)
        routes.append(Route(path, filling, methods=["POST"]))
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, token=token, is_loopback=is_loopback)],
        exception_handlers={HTTPException: _no_such_path},
        lifespan=_closing(engine),
    )


def _closing(engine: Engine) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await engine.aclose()

    return lifespan


async def _no_such_path(_request: Request, error: Exception) -> Response:
    status: Any = getattr(error, "status_code", 500)
    message = "there is no such path here" if status == 404 else str(getattr(error, "detail", error))
    body = {"message": message, "type": "invalid_request_error", "param": None, "code": status}
    return JSONResponse({"error": body}, status, getattr(error, "headers", None))
