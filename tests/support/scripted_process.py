"""A real engine process around a scripted model: what tests start instead of `python -m midfill_engine.service`.

    engine = ServiceEngine(options, scripted_command())
    await engine.fill(scripted_request(num_steps=5, hold_before=3))

The request says what the model gives: `scripted_request` puts it into the instruction as JSON. How the process itself
behaves (its transport, a load that waits or fails, a crash at the start) is said by `scripted_command`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from midfill_engine import wire
from midfill_engine.api import EngineOptions, FillRequest
from midfill_engine.core import FillCore, Load, OnProgress
from support.scripted import PATIENCE_S, POLL_S, Answer, Gate, ScriptedCore


def scripted_request(
    text: str = "pass",
    num_steps: int = 3,
    hold_before: int = 0,
    until: Path | None = None,
    error: str = "",
    **fields: Any,
) -> FillRequest:
    """A request with its answer. `hold_before`: stand still before that step, until the file `until` is there or
    the fill is cancelled. `error`: fail with an unexpected exception of that text."""
    script = {
        "text": text,
        "num_steps": num_steps,
        "hold_before": hold_before,
        "until": str(until or ""),
        "error": error,
    }
    return FillRequest(**{"prefix": "x = ", "instruction": json.dumps(script)} | fields)


def scripted_command(
    *,
    is_tcp: bool = False,
    load_until: Path | None = None,
    load_error: tuple[str, str] | None = None,
    crash: str = "",
    starts: Path | None = None,
) -> Callable[[EngineOptions], list[str]]:
    """The command of a process. `load_until`: loading takes until that file is there. `load_error`: kind and message.
    `crash`: last words before it ends at once. `starts`: a file that gets one line per process started."""
    script = {
        "is_tcp": is_tcp,
        "load_until": str(load_until or ""),
        "load_error": load_error,
        "crash": crash,
        "starts": str(starts or ""),
    }
    return lambda options: [
        sys.executable, "-P", __file__, json.dumps(wire.to_wire(options)), json.dumps(script)
    ]  # fmt: skip


class FileEvent(threading.Event):
    """An event that is set by a file's being there."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def wait(self, timeout: float | None = None) -> bool:
        deadline = time.monotonic() + (PATIENCE_S if timeout is None else timeout)
        while not (is_there := bool(self._path) and Path(self._path).exists()):
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_S)
        return is_there


def answer_to(request: FillRequest) -> Answer:
    script = json.loads(request.instruction) if request.instruction else {}
    return Answer(
        text=script.get("text", "pass"),
        num_steps=script.get("num_steps", 3),
        gate=Gate(script["hold_before"], FileEvent(script["until"])) if script.get("hold_before") else None,
        error=RuntimeError(script["error"]) if script.get("error") else None,
    )


def scripted_load(script: dict[str, Any]) -> Load:
    def load(_options: EngineOptions, on_progress: OnProgress) -> FillCore:
        on_progress(0.5, "half way")
        if script["load_until"]:
            FileEvent(script["load_until"]).wait()
        if script["load_error"]:
            kind, message = script["load_error"]
            raise wire.KINDS[kind](message)
        return ScriptedCore(default=answer_to)

    return load


def main(options_json: str, script_json: str) -> int:
    script = json.loads(script_json)
    if script["starts"]:
        with Path(script["starts"]).open("a") as file:
            file.write(f"{os.getpid()}\n")
    if script["crash"]:
        print(script["crash"], file=sys.stderr)
        return 3
    from midfill_engine.service.process import serve
    from midfill_engine.service.transport import LoopbackTransport, usual_transport

    options = wire.parse(options_json, EngineOptions)
    return serve(options, scripted_load(script), LoopbackTransport() if script["is_tcp"] else usual_transport())


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    from midfill_engine.service.process import leave

    leave(code)
