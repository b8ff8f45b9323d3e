"""`midfill gateway`: listens, and hands what comes to the user's engine process."""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import uvicorn

from midfill_engine.api import EngineError, EngineOptions, connect, start_engine
from midfill_engine.errors import RequestError, ResourceError
from midfill_engine.gateway.app import make_app

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8012  # llama.vim's default
TOKEN_VARIABLE = "MIDFILL_TOKEN"
LEAST_TOKEN = 16
END_PATIENCE_S = 5


@dataclass(frozen=True, kw_only=True)
class Door:
    """Where it listens and who may come in; checked as a whole before anything is opened.

    Raises:
        RequestError: what would leave the engine open to others.
    """

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    token: str = ""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    is_behind_proxy: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.port < 2**16:
            raise RequestError(f"--port must be 0 to 65535, got {self.port}")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise RequestError("--tls-cert and --tls-key go together")
        if self.token and len(self.token) < LEAST_TOKEN:
            raise RequestError(f"the token is too short to be safe: take {LEAST_TOKEN} characters or more")
        if not self.is_loopback:
            self._check_public()

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it. A name that is no address may resolve to anything."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls_cert else 'http'}://{host}:{self.port}"

    def _check_public(self) -> None:
        if not self.token:
            raise RequestError(f"{self.host} is open to others: give a token, in {TOKEN_VARIABLE} or --token-file")
        if self.tls_cert is None and not self.is_behind_proxy:
            raise RequestError(
                f"{self.host} is open to others: give --tls-cert and --tls-key, or say --insecure-behind-proxy where a "
                "proxy in front of it has them"
            )


def run(argv: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """Serve until a signal; the exit code."""
    options = _parser().parse_args(list(argv))
    door = _door(options, environ)
    with _listen(door) as listener:
        bound = _bound(door, listener)
        engine_options = EngineOptions(preset=options.preset, device=options.device)
        print(f"midfill gateway: {bound.url} fills with {options.preset}; Ctrl-C ends it", file=sys.stderr, flush=True)
        asyncio.run(_serve(bound, engine_options, listener))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="midfill gateway",
        description="Serve other editors' plugins: llama.cpp's /infill, OpenAI's /v1/completions with a suffix.",
    )
    parser.add_argument("--host", default=DEFAULT_HOST, help=f"default: {DEFAULT_HOST}, this machine only")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help=f"default: {DEFAULT_PORT}; 0: any free one")
    parser.add_argument("--preset", default="pocket", help="a preset's name or a folder")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--token-file", type=Path, help=f"holds what clients must show; or set {TOKEN_VARIABLE}")
    parser.add_argument("--tls-cert", type=Path)
    parser.add_argument("--tls-key", type=Path)
    parser.add_argument("--insecure-behind-proxy", action="store_true", help="a proxy in front of it speaks TLS")
    return parser


def _door(options: argparse.Namespace, environ: Mapping[str, str]) -> Door:
    token = environ.get(TOKEN_VARIABLE, "")
    if options.token_file is not None:
        token = options.token_file.read_text("utf-8").strip()
        if not token:
            raise RequestError(f"{options.token_file} holds no token")
    return Door(
        host=options.host,
        port=options.port,
        token=token,
        tls_cert=options.tls_cert,
        tls_key=options.tls_key,
        is_behind_proxy=options.insecure_behind_proxy,
    )


def _listen(door: Door) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(door.host, door.port, type=socket.SOCK_STREAM)[0]
        listener = socket.create_server(address[:2], family=family)
    except OSError as error:
        raise ResourceError(f"{door.url} cannot be listened on: {error.strerror or error}") from None
    return listener


def _bound(door: Door, listener: socket.socket) -> Door:
    return replace(door, port=listener.getsockname()[1])


async def _serve(door: Door, options: EngineOptions, listener: socket.socket) -> None:
    app = make_app(connect(options), options.preset, token=door.token, is_loopback=door.is_loopback)
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ssl_certfile=door.tls_cert,
        ssl_keyfile=door.tls_key,
        timeout_graceful_shutdown=END_PATIENCE_S,
    )
    warming = asyncio.create_task(_warm(options))
    try:
        await uvicorn.Server(config).serve(sockets=[listener])
    finally:
        warming.cancel()


async def _warm(options: EngineOptions) -> None:
    """Have the model loaded before the first key is pressed; what hinders it is also told to whoever asks."""
    try:
        await start_engine(options)
    except EngineError as error:
        print(f"midfill gateway: {error}", file=sys.stderr, flush=True)
