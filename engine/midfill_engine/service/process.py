"""The engine process: owns its place, listens, loads the model, serves, and ends when nobody has used it for a while.

Its first line on standard output is for whoever started it: {"ready": true} or {"error": {kind, message}}. After that
standard output is standard error, which whoever started it has sent to a file. The library that the model needs is
imported by the model's thread, so that the process answers long before the model does.

A place is owned by the process that holds its owner lock, which the system releases with the process, however it
ends. So whatever an owner finds lying there is left over and is replaced.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import logging.handlers
import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import NoReturn

import uvicorn
from filelock import FileLock, Timeout

from midfill_engine import __version__, wire
from midfill_engine.api import EngineOptions, EngineState, EngineStatus
from midfill_engine.core import Load
from midfill_engine.errors import EngineError, EngineUnavailable
from midfill_engine.local import LocalEngine, load_filler
from midfill_engine.memory import give_back
from midfill_engine.service import alive
from midfill_engine.service import record as records
from midfill_engine.service.app import make_app
from midfill_engine.service.places import Places, canonical, places_of
from midfill_engine.service.probe import is_answering
from midfill_engine.service.record import Record
from midfill_engine.service.transport import Transport, usual_transport

logger = logging.getLogger(__name__)

OWN_PATIENCE_S = 10.0
OWN_LOOK_S = 0.25
HOUSEKEEPING_S = 1.0
FAILED_IDLE_S = 30.0
END_PATIENCE_S = 5
BACKLOG = 128
LOG_BYTES = 1_000_000


def serve(options: EngineOptions, load: Load = load_filler, transport: Transport | None = None) -> int:
    """Be the engine process of these options until it ends; returns the exit code."""
    try:
        options = canonical(options)
        places = places_of(options)
        owner = _own(places)
        if owner is None:
            announce({"ready": True})
            return 0
        with owner:
            _log_to(places.log)
            _serve_owned(options, places, load, transport or usual_transport())
    except EngineError as error:
        announce({"error": wire.error_to_wire(error)})
        return 1
    return 0


def leave(code: int) -> NoReturn:
    """End the process now. The model's thread may be in the middle of a load that nothing can interrupt."""
    logging.shutdown()
    sys.stderr.flush()
    os._exit(code)


def is_over(status: EngineStatus, idle_timeout_s: float) -> bool:
    """Whether nobody has needed the engine for long enough. One that could not load ends sooner: a new process sees an
    environment in which the cause may be gone."""
    patience_s = min(idle_timeout_s, FAILED_IDLE_S) if status.state is EngineState.FAILED else idle_timeout_s
    is_working = status.state in (EngineState.LOADING, EngineState.BUSY)
    return not is_working and status.idle_s >= patience_s


def _own(places: Places) -> FileLock | None:
    """The place's owner lock, held; None: its owner is alive and well. A former owner may still be on its way out."""
    lock = FileLock(places.owner_lock)
    for _ in range(int(OWN_PATIENCE_S / OWN_LOOK_S)):
        with contextlib.suppress(Timeout):
            lock.acquire(timeout=OWN_LOOK_S)
            return lock
        if is_answering(records.read(places.record)):
            return None
    raise EngineUnavailable("a running engine does not answer; end it with: midfill engine stop")


def _serve_owned(options: EngineOptions, places: Places, load: Load, transport: Transport) -> None:
    try:
        listener = transport.bind(places)
        listener.listen(BACKLOG)
        record = _record_of(options, transport)
        records.write(places.record, record)
    except OSError as error:
        raise EngineUnavailable(f"the engine cannot listen in {places.directory}: {error.strerror or error}") from None
    try:
        server = EngineServer(options, LocalEngine(options, load), transport, places.record, record)
        asyncio.run(server.serve(sockets=[listener]))
    finally:
        records.remove(places.record)
        transport.release()


def _record_of(options: EngineOptions, transport: Transport) -> Record:
    return Record(
        pid=os.getpid(),
        started=alive.own_start(),
        version=__version__,
        preset=options.preset,
        device=options.device,
        address=transport.address,
    )


class EngineServer(uvicorn.Server):
    """The HTTP server, with the engine's life tied to its own."""

    def __init__(
        self, options: EngineOptions, engine: LocalEngine, transport: Transport, path: Path, record: Record
    ) -> None:
        self._options = options
        self._engine = engine
        self._transport = transport
        self._record_path = path
        self._record = record
        self._tasks: set[asyncio.Task[None]] = set()
        super().__init__(
            uvicorn.Config(
                make_app(engine, transport, self),
                http="h11",
                ws="none",
                loop="asyncio",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=END_PATIENCE_S,
            )
        )

    def end(self) -> None:
        self.should_exit = True

    def is_ending(self) -> bool:
        return self.should_exit

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tasks = {asyncio.create_task(self._load()), asyncio.create_task(self._keep_house())}
        announce({"ready": True})

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for task in self._tasks:
            task.cancel()
        # Before the connections are waited for: their fills end with it.
        await self._engine.aclose()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End in order. The inherited one raises the signal again afterwards, which would skip our cleaning up."""

        def end(_signal: int, _frame: FrameType | None) -> None:
            self.end()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)
        yield

    async def _load(self) -> None:
        # Clients are told by the worker; this is only to have it done before they ask.
        with contextlib.suppress(EngineError):
            await self._engine.load()

    async def _keep_house(self) -> None:
        pause_s = min(HOUSEKEEPING_S, self._options.idle_timeout_s / 4)
        num_fills = 0  # after which memory was given back
        while not self.should_exit:
            await asyncio.sleep(pause_s)
            status = await self._engine.status()
            if status.num_fills != num_fills and status.state is EngineState.READY:
                give_back()
                num_fills = status.num_fills
            if is_over(status, self._options.idle_timeout_s):
                logger.info("nobody has used the engine for a while: ending")
                self.end()
            elif not self._transport.is_reachable():
                logger.info("the socket has been removed, nobody can find the engine: ending")
                self.end()
            elif records.read(self._record_path) != self._record:
                records.write(self._record_path, self._record)


def announce(answer: Mapping[str, object]) -> None:
    """Tell whoever started this process that it listens, or why it does not."""
    with contextlib.suppress(OSError):  # whoever started it may be gone
        os.write(1, wire.dump_line(answer))
    os.dup2(2, 1)


def _log_to(path: Path) -> None:
    handler = logging.handlers.RotatingFileHandler(
        path, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8", errors="backslashreplace"
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.captureWarnings(True)
    faulthandler.enable()
