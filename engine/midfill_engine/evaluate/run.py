"""Asks an engine every case and grades what it says."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from typing import TextIO

from midfill_engine.api import Engine, FillRequest, FillResult, Limits, Mode
from midfill_engine.evaluate.asking import Asking
from midfill_engine.evaluate.cases import NEXT_EDIT, REWRITE, Case
from midfill_engine.evaluate.grading import Answer, Graded, Grader

OnGraded = Callable[[Graded], None]


def answerable(cases: Iterable[Case], can_instruct: bool) -> list[Case]:
    """The cases that are holes to fill: no next edits, and rewritten selections only for models that can be told to."""
    return [case for case in cases if case.kind != NEXT_EDIT and (can_instruct or case.kind != REWRITE)]


async def warm_up(engine: Engine) -> None:
    """Have the model loaded and its kernels chosen before anything is timed."""
    await engine.fill(FillRequest(prefix="x =", suffix="\n", mode=Mode.LINE, limits=Limits(max_tokens=8)))


async def evaluate(
    engine: Engine, cases: Iterable[Case], asking: Asking, grader: Grader, on_graded: OnGraded
) -> list[Graded]:
    """All cases in turn. `on_graded` is told each as it is done.

    Raises:
        EngineError: what the engine fails with ends the evaluation.
    """
    graded = []
    for case in cases:
        graded.append(grader.grade(case, await _ask(engine, asking.request(case))))
        on_graded(graded[-1])
    return graded


async def _ask(engine: Engine, request: FillRequest) -> Answer:
    began = time.perf_counter()
    result = await engine.fill(request)
    return _answer(result, 1000 * (time.perf_counter() - began))


def _answer(result: FillResult, latency_ms: float) -> Answer:
    return Answer(
        text=result.text,
        latency_ms=latency_ms,
        num_steps=result.num_steps,
        num_tokens=result.num_tokens,
        finish=result.finish,
    )


def write_line(graded: Graded, file: TextIO) -> None:
    """One graded fill as a JSON line."""
    told = {
        "id": graded.case.id,
        "kind": graded.case.kind,
        "group": graded.case.group,
        "language": graded.case.language,
        "middle": graded.case.middle,
        "raw": graded.answer.text,
        "fill": graded.cut,
        "exact_match": graded.is_exact,
        "exact_match_blanks": graded.is_exact_but_blanks,
        "exact_match_raw": graded.is_raw_exact,
        "edit_similarity": round(graded.edit_similarity, 4),
        "suffix_echo": graded.echoes_suffix,
        "empty": graded.is_empty,
        "parses": graded.parses,
        "passes": graded.passes,
        "gold_passes": graded.gold_passes,
        "latency_ms": round(graded.answer.latency_ms, 2),
        "steps": graded.answer.num_steps,
        "tokens": graded.answer.num_tokens,
        "finish": graded.answer.finish,
    }
    file.write(json.dumps(told, ensure_ascii=False) + "\n")
    file.flush()
