"""The real language server around a scripted engine: a program that tests start, and the command line for it.

    async with LspClient.run(scripted_server(Say(text="foo()"), Say(text="bar", hold_before=2))) as client: ...

Each fill takes the next of the answers, the last one again and again. The engine tells events on $EVENTS_FD: `start`,
`fill` (with the request), `step`, and how a fill ended: `finished`, `cancelled`. What is held is let go when the file
`release` appears.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from support.scripted import POLL_S


@dataclass(frozen=True, kw_only=True)
class Say:
    """An answer. `note` comes with it. `error` names an engine error to raise instead. `hold_before`: stand still
    before that step."""

    text: str = ""
    others: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    spares: tuple[tuple[str, float], ...] = ()
    confidence: float = 0.5
    num_steps: int = 3
    hold_before: int = 0
    error: str = ""
    note: str = ""


def scripted_server(
    *answers: Say, release: Path | None = None, is_start_held: bool = False, start_error: str = ""
) -> list[str]:
    """The command. `is_start_held`: the model is loading until `release` appears."""
    script = {
        "answers": [asdict(answer) for answer in answers or (Say(text="pass"),)],
        "release": str(release or ""),
        "is_start_held": is_start_held,
        "start_error": start_error,
    }
    return [sys.executable, "-W", "error", str(Path(__file__).resolve()), json.dumps(script)]


def main(script: dict[str, Any]) -> None:
    from midfill_server.app import run_stdio

    run_stdio(lambda: _door(script))


def _door(script: dict[str, Any]) -> Any:
    """Made after `initialize` was answered: the scripted engine's imports are no part of the server's start."""
    from midfill_engine.api import EngineOptions, EngineState, EngineStatus
    from midfill_server.engine_link import EngineDoor

    events = _Events()
    engine = _engine(script, events)

    async def start(options: EngineOptions, on_load: Any = None) -> EngineStatus:
        events.tell("start", preset=options.preset)
        if script["start_error"]:
            raise _error(script["start_error"])
        if on_load is not None:
            on_load(0.5, "half way")
        if script["is_start_held"]:
            await _released(script["release"])
        return EngineStatus(state=EngineState.READY, preset=options.preset)

    return EngineDoor(connect=lambda options: engine, start=start)


class _Events:
    def __init__(self) -> None:
        number = os.environ.get("EVENTS_FD") or str(os.open(os.devnull, os.O_WRONLY))  # nobody may want to know
        self._stream = os.fdopen(int(number), "w", buffering=1)

    def tell(self, event: str, **fields: Any) -> None:
        print(json.dumps({"event": event, **fields}), file=self._stream)


def _engine(script: dict[str, Any], events: _Events) -> Any:
    from midfill_engine.api import Draft, FillRequest, FillResult, OnDraft
    from support.scripted import Answer, Gate, ScriptedEngine

    def next_answer(_request: FillRequest) -> Answer:
        answers = script["answers"]
        said = answers.pop(0) if len(answers) > 1 else answers[0]
        notes.append(said.get("note", ""))
        gate = Gate(before_step=said["hold_before"]) if said["hold_before"] else None
        if gate is not None and script["release"]:
            tasks.append(asyncio.ensure_future(_open_when_released(gate, script["release"])))
        return Answer(
            text=said["text"],
            others=tuple(said["others"]),
            more=tuple(said["more"]),
            spares=tuple((text, confidence) for text, confidence in said.get("spares", ())),
            confidence=said.get("confidence", 0.5),
            num_steps=said["num_steps"],
            gate=gate,
            error=_error(said["error"]) if said["error"] else None,
        )

    class TellingEngine(ScriptedEngine):
        async def fill(self, request: FillRequest, on_draft: OnDraft | None = None) -> FillResult:
            events.tell("fill", number=len(self.requests) + 1, **_shown(request))
            before = self.num_steps
            try:
                result = await super().fill(request, partial(self._step, on_draft))
            except asyncio.CancelledError:
                events.tell("cancelled", num_steps=self.num_steps - before, request_id=request.request_id)
                raise
            events.tell("finished", num_steps=self.num_steps - before, request_id=request.request_id)
            return replace(result, note=notes[-1])

        def _step(self, on_draft: OnDraft | None, draft: Draft) -> None:
            if draft.hole == 0:
                events.tell("step", number=self.num_steps)
            if on_draft is not None:
                on_draft(draft)

    tasks: list[asyncio.Task[None]] = []
    notes: list[str] = []
    return TellingEngine(default=next_answer)


def _shown(request: Any) -> dict[str, Any]:
    names = ("prefix", "suffix", "language", "mode", "num_candidates", "client", "document", "request_id")
    names += ("seed", "selection", "instruction", "between")
    limits = {"max_tokens": request.limits.max_tokens, "deadline_s": request.limits.deadline_s}
    snippets = [{"path": snippet.path, "text": snippet.text} for snippet in request.snippets]
    return {name: getattr(request, name) for name in names} | limits | {"snippets": snippets}


async def _open_when_released(gate: Any, release: str) -> None:
    await _released(release)
    gate.open()


async def _released(release: str) -> None:
    while not Path(release).exists():  # noqa: ASYNC110, ASYNC240 - another process makes the file
        await asyncio.sleep(POLL_S)


def _error(name: str) -> Exception:
    from midfill_engine import errors

    kind = getattr(errors, name, RuntimeError)
    return kind(f"scripted {name}")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
