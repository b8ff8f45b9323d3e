"""Find the engine process of some options, or start one: under a lock, so that clients that come together get the same.

    lock ─▶ record says where ─▶ somebody answers there? ── yes ─▶ its record
                                        └── no ─▶ start a process, wait for its first line ─▶ its record, or why not

Everything here blocks; clients call it in a thread. The new process says in one line on its standard output that it
listens or why it cannot; nothing is polled and nothing is guessed from a delay. A lock of a client that died is
released by the system; a record or socket that a process left behind is replaced by the next process, which alone may
own the place.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from midfill_engine import wire
from midfill_engine.api import EngineOptions
from midfill_engine.errors import EngineError, EngineUnavailable, RequestError
from midfill_engine.service import record as records
from midfill_engine.service.places import Places, canonical, places_of
from midfill_engine.service.probe import is_answering
from midfill_engine.service.record import Record

START_PATIENCE_S = 60.0

if sys.platform == "win32":
    DETACHED = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
else:
    DETACHED = 0

Command = Callable[[EngineOptions], list[str]]
"""The command line that starts an engine process with these options."""


def usual_command(options: EngineOptions) -> list[str]:
    """This package's engine. -P: no module is taken from the directory it is started in."""
    return [sys.executable, "-P", "-m", "midfill_engine.service", json.dumps(wire.to_wire(options))]


def find_or_start(options: EngineOptions, command: Command, patience_s: float = START_PATIENCE_S) -> Record:
    """How to reach the engine. Raises EngineUnavailable, or the EngineError that the process gives as the reason."""
    options = canonical(options)
    places = places_of(options)
    if not options.start:
        return _find(places, options)
    with _locked(places, patience_s):
        record = records.read(places.record)
        if record is not None and is_answering(record):
            return record
        _start(options, places, command)
        record = records.read(places.record)
    if record is None:
        raise EngineUnavailable(f"the engine started but left no record in {places.directory}")
    return record


def _find(places: Places, options: EngineOptions) -> Record:
    record = records.read(places.record)
    if record is None or not is_answering(record):
        raise EngineUnavailable(f"no engine is running for preset {options.preset}; start one: midfill engine start")
    return record


@contextmanager
def _locked(places: Places, patience_s: float) -> Iterator[None]:
    try:
        with FileLock(places.start_lock, timeout=patience_s):
            yield
    except Timeout:
        message = "another program has been starting the engine for too long; end it and try again"
        raise EngineUnavailable(message) from None


def _start(options: EngineOptions, places: Places, command: Command) -> None:
    process = _spawn(command(options), places)
    assert process.stdout is not None
    watchdog = threading.Timer(START_PATIENCE_S, process.kill)
    watchdog.daemon = True
    watchdog.start()
    with process.stdout as pipe:
        line = pipe.readline()
    watchdog.cancel()
    if not line:
        code = process.wait()
        raise EngineUnavailable(f"the engine ended while it started (exit code {code}): {_last_words(places)}")
    # Whoever started a process has to take note of its end, or a dead entry stays in the system's table.
    threading.Thread(target=process.wait, name="midfill-engine-end", daemon=True).start()
    failure = _failure(line)
    if failure is not None:
        raise failure


def _spawn(arguments: list[str], places: Places) -> subprocess.Popen[bytes]:
    try:
        with places.stderr.open("wb") as stderr:
            return subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=places.directory,
                # A session of its own: the engine outlives the editor that happened to start it.
                start_new_session=True,
                creationflags=DETACHED,
            )
    except OSError as error:
        raise EngineUnavailable(f"the engine cannot be started: {error.strerror or error}") from None


def _failure(line: bytes) -> EngineError | None:
    try:
        answer = wire.load_json(line)
    except RequestError:
        answer = None
    if not isinstance(answer, dict):
        return EngineUnavailable("what was started instead of the engine does not speak like one")
    return wire.error_from_wire(answer["error"]) if "error" in answer else None


def _last_words(places: Places) -> str:
    try:
        lines = places.stderr.read_text("utf-8", "replace").split("\n")
    except OSError:
        lines = []
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
