"""The user's engine processes: which run, stopping one or all, starting one. For the command line.

A process that does not answer is ended by its process id, but only when it is still the process that wrote the
record: ids are used again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from filelock import FileLock, Timeout

from midfill_engine.api import EngineOptions, EngineState, EngineStatus
from midfill_engine.core import OnProgress
from midfill_engine.errors import EngineUnavailable, RequestError
from midfill_engine.service import alive
from midfill_engine.service import record as records
from midfill_engine.service.client import ServiceEngine, in_thread, status_at
from midfill_engine.service.connection import open_async, transport_error
from midfill_engine.service.launch import Command, usual_command
from midfill_engine.service.places import Places, engine_directory, places_named, places_of
from midfill_engine.service.record import Record

PATIENCE_S = 5.0


async def statuses(options: EngineOptions, patience_s: float = PATIENCE_S) -> tuple[EngineStatus, ...]:
    """What all of the user's engines are doing, those of other presets and versions too."""
    return tuple([await _status_of(record, patience_s) for _, record in _living(options)])


async def start(
    options: EngineOptions, on_progress: OnProgress | None = None, command: Command = usual_command
) -> EngineStatus:
    """Start the engine of these options unless it runs, and wait until its model is loaded."""
    engine = ServiceEngine(options, command)
    try:
        return await engine.load(on_progress)
    finally:
        await engine.aclose()


async def stop(options: EngineOptions, every: bool = False, patience_s: float = PATIENCE_S) -> int:
    """Stop the engine of these options, or all of the user's; returns how many were stopped."""
    wanted = places_of(options).name
    num_stopped = 0
    for places, record in _living(options):
        if every or places.name == wanted:
            await _stop(places, record, patience_s)
            num_stopped += 1
    return num_stopped


def _living(options: EngineOptions) -> Iterator[tuple[Places, Record]]:
    """The engines whose process is there. What others left behind is removed on the way."""
    for path in sorted(engine_directory(options).glob("*.json")):
        places = places_named(path.stem, options)
        record = records.read(path)
        if record is not None and alive.is_alive(record.pid, record.started):
            yield places, record
        else:
            _tidy(places)


async def _status_of(record: Record, patience_s: float) -> EngineStatus:
    silent = EngineStatus(
        state=EngineState.FAILED,
        preset=record.preset,
        device=record.device,
        message="does not answer; end it with: midfill engine stop",
        pid=record.pid,
        version=record.version,
    )
    async with open_async(record.address) as http:
        try:
            return await status_at(http, patience_s)
        except RequestError:
            return EngineStatus(
                state=EngineState.READY,
                preset=record.preset,
                device=record.device,
                message="an engine of another version",
                pid=record.pid,
                version=record.version,
            )
        except (EngineUnavailable, transport_error()):
            return silent


async def _stop(places: Places, record: Record, patience_s: float) -> None:
    async with open_async(record.address) as http:
        with suppress(transport_error()):
            await http.post("/v1/stop", timeout=patience_s)
    if not await in_thread(lambda: _wait_for_end(places, patience_s)):
        alive.kill(record.pid, record.started)
        await in_thread(lambda: _wait_for_end(places, patience_s))
    _tidy(places)


def _wait_for_end(places: Places, patience_s: float) -> bool:
    """Whether the owner lock, which lives as long as its process, has come free in time."""
    try:
        with FileLock(places.owner_lock, timeout=patience_s):
            return True
    except Timeout:
        return False


def _tidy(places: Places) -> None:
    """Remove a place's files if no process owns it."""
    with suppress(Timeout), FileLock(places.owner_lock, timeout=0):
        records.remove(places.record)
        with suppress(OSError):
            places.socket.unlink()
