"""The real language server around an engine that answers from a file: what the editors' tests start.

    python scripted_server.py ANSWERS LOG

ANSWERS is JSON: a list of {"after": TEXT, "texts": [...]}; a fill whose prefix ends with one of the texts "after" gets
that one's texts, any other gets nothing. {"error": NAME} raises an engine error, {"hold": FILE} waits until that file
is there, after the draft of {"step": NUMBER} has been told. The file is read at every fill. LOG gets one line of JSON
per fill, with the request. While there is a file ANSWERS.loading, the model is being loaded.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

POLL_S = 0.01


def main(answers: Path, log: Path) -> None:
    from midfill_server.app import run_stdio

    run_stdio(lambda: _door(answers, log))


def _door(answers: Path, log: Path) -> Any:
    from midfill_engine import errors
    from midfill_engine.api import EngineOptions, EngineState, EngineStatus, FillRequest, FillResult, OnDraft
    from midfill_server.engine_link import EngineDoor
    from support.scripted import Answer, ScriptedEngine

    def tell(event: str, **fields: Any) -> None:
        with log.open("a", encoding="utf-8") as file:
            print(json.dumps({"event": event, **fields}), file=file)

    def answer_to(request: FillRequest) -> Answer:
        said = _said(answers, request.prefix)
        texts = said.get("texts", [])
        error = getattr(errors, said["error"])("scripted") if "error" in said else None
        return Answer(text=texts[0] if texts else "", others=tuple(texts[1:]), error=error)

    class FileEngine(ScriptedEngine):
        async def fill(self, request: FillRequest, on_draft: OnDraft | None = None) -> FillResult:
            tell("fill", prefix=request.prefix, suffix=request.suffix, num_candidates=request.num_candidates)
            hold = _said(answers, request.prefix).get("hold")
            step = _said(answers, request.prefix).get("step")
            try:
                if step and on_draft is not None:
                    on_draft(answer_to(request).draft(step))
                while hold and not Path(hold).exists():  # noqa: ASYNC110, ASYNC240 - another process makes the file
                    await asyncio.sleep(POLL_S)
                return await super().fill(request, on_draft)
            except asyncio.CancelledError:
                tell("cancelled", prefix=request.prefix)
                raise

    async def start(options: EngineOptions, on_load: Any = None) -> EngineStatus:
        tell("start", preset=options.preset)
        while loading.exists():  # noqa: ASYNC110 - another process removes the file
            await asyncio.sleep(POLL_S)
        return EngineStatus(state=EngineState.READY, preset=options.preset)

    loading = answers.with_name(f"{answers.name}.loading")
    engine = FileEngine(default=answer_to)
    return EngineDoor(connect=lambda options: engine, start=start)


def _said(answers: Path, prefix: str) -> dict[str, Any]:
    for said in json.loads(answers.read_text("utf-8")):
        if prefix.endswith(said["after"]):
            return dict(said)
    return {}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
