"""The real language server around a scripted engine whose script can be changed while it runs: one for many tests.

    python scripted_server.py SCRIPT EVENTS

SCRIPT is a file with `{"number": 1, "answers": [{"text": ...}, ...]}`: each fill takes the next answer, the last one
again and again; another number starts from the first. With `start_error` the model cannot be loaded, with `start_held`
not before that is false. EVENTS gets a line of JSON for each `start`, `fill`, `step` and
for how a fill ended: `finished`, `cancelled`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))


def main(script: Path, events: Path) -> None:
    from midfill_server.app import run_stdio

    run_stdio(lambda: _door(Script(script), Events(events)))


class Events:
    def __init__(self, path: Path) -> None:
        self._path = path

    def tell(self, event: str, **fields: Any) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps({"event": event, **fields}) + "\n")


class Script:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._number = 0
        self._next = 0

    def read(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self._path.read_text())
        return said

    def take(self) -> dict[str, Any]:
        said = self.read()
        if said["number"] != self._number:
            self._number, self._next = said["number"], 0
        answers: list[dict[str, Any]] = said["answers"]
        answer = answers[min(self._next, len(answers) - 1)]
        self._next += 1
        return answer


def _door(script: Script, events: Events) -> Any:
    from midfill_engine import errors
    from midfill_engine.api import Draft, EngineOptions, EngineState, EngineStatus, FillRequest, FillResult, OnDraft
    from midfill_server.engine_link import EngineDoor
    from support.scripted import POLL_S, Answer, Gate, ScriptedEngine

    def next_answer(_request: FillRequest) -> Answer:
        said = script.take()
        return Answer(
            text=said["text"],
            others=tuple(said["others"]),
            more=tuple(said["more"]),
            num_steps=said["num_steps"],
            gate=Gate(before_step=said["hold_before"]) if said["hold_before"] else None,
            error=getattr(errors, said["error"])("as told") if said["error"] else None,
        )

    class TellingEngine(ScriptedEngine):
        async def fill(self, request: FillRequest, on_draft: OnDraft | None = None) -> FillResult:
            asked = {
                name: getattr(request, name)
                for name in ("prefix", "suffix", "num_candidates", "instruction", "request_id")
            }
            events.tell("fill", **asked)
            try:
                result = await super().fill(request, partial(self._step, on_draft))
            except asyncio.CancelledError:
                events.tell("cancelled", request_id=request.request_id)
                raise
            events.tell("finished", request_id=request.request_id)
            return result

        def _step(self, on_draft: OnDraft | None, draft: Draft) -> None:
            if on_draft is not None:
                on_draft(draft)
            events.tell("step", number=draft.step)

    async def start(options: EngineOptions, on_load: Any = None) -> EngineStatus:
        events.tell("start", preset=options.preset)
        while script.read()["start_held"]:  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(POLL_S)
        if script.read()["start_error"]:
            raise getattr(errors, script.read()["start_error"])("as told")
        return EngineStatus(state=EngineState.READY, preset=options.preset)

    engine = TellingEngine(default=next_answer)
    return EngineDoor(connect=lambda options: engine, start=start)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
