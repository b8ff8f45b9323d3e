"""What one fill is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from midfill_engine.evaluate import metrics
from midfill_engine.evaluate.asking import as_middle, cut
from midfill_engine.evaluate.cases import Case
from midfill_engine.evaluate.parsing import Parses, parser_of


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What an engine said. `text` raw; empty where it offered nothing."""

    text: str
    latency_ms: float = 0.0
    num_steps: int = 0
    num_tokens: int = 0
    finish: str = ""


@dataclass(frozen=True, kw_only=True)
class Graded:
    """A case, its answer, and what that is worth. `cut`: the answer by the truncation rule, compared with the middle.

    `parses` None: the true file does not parse, or nobody can tell. `passes`, `gold_passes` (of the true middle) None:
    there are no tests, or they cannot be run here.
    """

    case: Case
    answer: Answer
    cut: str
    is_exact: bool
    is_exact_but_blanks: bool
    is_raw_exact: bool
    edit_similarity: float
    raw_edit_similarity: float
    echoes_suffix: bool
    is_empty: bool
    parses: bool | None
    passes: bool | None = None
    gold_passes: bool | None = None


class Tests(Protocol):
    """Runs the tests of cases."""

    @property
    def notes(self) -> list[str]:
        """What must be known of how they were run, for people."""
        ...

    def passes(self, case: Case, middle: str) -> bool | None:
        """Whether the case's program with that middle passes its tests; None if that cannot be told."""
        ...


class NoTests:
    """Where no tests are given; notes whether there would have been any."""

    def __init__(self) -> None:
        self._wanted: set[str] = set()

    @property
    def notes(self) -> list[str]:
        return ["some cases have tests: name their file with --tests to run them"] if self._wanted else []

    def passes(self, case: Case, middle: str) -> bool | None:
        self._wanted |= {case.tests} if case.tests else set()
        return None


class Grader:
    """Grades answers; keeps the parsers that were looked up."""

    def __init__(self, tests: Tests, find_parser: Callable[[str], Parses | None] = parser_of) -> None:
        self._tests = tests
        self._find_parser = find_parser
        self._parsers: dict[str, Parses | None] = {}

    def grade(self, case: Case, answer: Answer) -> Graded:
        """Everything that is said of one answer."""
        raw, middle, truth = as_middle(case, answer.text), as_middle(case, cut(case, answer.text)), case.middle
        return Graded(
            case=case,
            answer=answer,
            cut=middle,
            is_exact=metrics.is_exact(middle, truth),
            is_exact_but_blanks=metrics.is_exact_but_blanks(middle, truth),
            is_raw_exact=metrics.is_exact(raw, truth),
            edit_similarity=metrics.edit_similarity(middle, truth),
            raw_edit_similarity=metrics.edit_similarity(raw, truth),
            echoes_suffix=metrics.echoes_suffix(raw, truth, case.suffix),
            is_empty=metrics.is_empty(raw),
            parses=self._parses(case, middle),
            passes=self._tests.passes(case, middle),
            gold_passes=self._tests.passes(case, truth),
        )

    def _parses(self, case: Case, middle: str) -> bool | None:
        if case.language not in self._parsers:
            self._parsers[case.language] = self._find_parser(case.language)
        parses = self._parsers[case.language]
        if parses is None or not parses(case.whole(case.middle)):
            return None
        return parses(case.whole(middle))

    @property
    def notes(self) -> list[str]:
        """What must be known to read the figures, for people."""
        unknown = sorted(language for language, parses in self._parsers.items() if parses is None)
        left_out = [f"parse rate leaves out {', '.join(unknown)}: no grammar on this machine"] if unknown else []
        return [*left_out, *self._tests.notes]
