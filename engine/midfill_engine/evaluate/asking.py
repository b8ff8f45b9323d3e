"""What is asked of the engine for a case, and how much of its answer counts.

The truncation rule, which knows the kind of the hole but never the true middle's length:

*   A line hole (`LINE_KINDS`) is asked in line mode, and its answer ends before the first line break.
*   A block hole (all other kinds) is asked in block mode, and its answer ends where it begins to repeat the suffix.
*   A hole of whole lines (`WHOLE_LINE_KINDS`) leaves its last line break in the document, as an editor does: the
    suffix that is asked with begins with it, and it is put back behind an answer before that is compared.
"""

from __future__ import annotations

from dataclasses import dataclass

from midfill_engine.api import FillRequest, Limits, Mode
from midfill_engine.evaluate.cases import Case
from midfill_engine.evaluate.metrics import num_repeated

LINE_KINDS = frozenset({"rest-of-line", "one-line", "single-line", "table-cell", "table-delim", "table-row"})
WHOLE_LINE_KINDS = frozenset({"single-line", "multi-line", "table-delim", "table-row"})
_MAX_TOKENS = {Mode.LINE: 128, Mode.BLOCK: 256, Mode.AUTO: 256}


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How all cases are asked. `mode` None: by the kind of the hole."""

    mode: Mode | None = None
    max_steps: int | None = None
    seed: int = 0

    def request(self, case: Case) -> FillRequest:
        """What the engine is asked."""
        mode = self.mode or mode_of(case)
        return FillRequest(
            prefix=case.prefix,
            suffix=kept_break(case) + case.suffix,
            language=case.language,
            mode=mode,
            limits=Limits(max_tokens=_MAX_TOKENS[mode], max_steps=self.max_steps),
            seed=self.seed,
            selection=case.selection,
            instruction=case.instruction,
            request_id=case.id,
        )


def mode_of(case: Case) -> Mode:
    """The mode that a case's kind asks for."""
    return Mode.LINE if case.kind in LINE_KINDS else Mode.BLOCK


def kept_break(case: Case) -> str:
    """The line break behind a hole of whole lines, or nothing."""
    is_at_start = not case.prefix or case.prefix.endswith("\n")
    has_break = case.kind in WHOLE_LINE_KINDS and case.middle.endswith("\n")
    return "\n" if is_at_start and has_break else ""


def as_middle(case: Case, answer: str) -> str:
    """An answer as it compares to the true middle: all of it, with the break that was kept in the document."""
    return answer + kept_break(case) if answer else ""


def cut(case: Case, answer: str) -> str:
    """The answer by the truncation rule."""
    if mode_of(case) is Mode.LINE:
        return answer.split("\n", 1)[0]
    return answer[: len(answer) - num_repeated(answer, kept_break(case) + case.suffix)]
