"""pass@1: whether a case's program passes its tests with a given middle."""

from __future__ import annotations

from collections.abc import Mapping

from midfill_engine.evaluate.cases import Case
from midfill_engine.evaluate.programs import RUNNERS, CaseTests, make_job
from midfill_engine.evaluate.sandbox import Sandbox, has_limits


class Trials:
    """A `grading.Tests` over a tests file. A program is run once: a fill that is exactly right has been run as the
    reference, and many cases are holes in one program."""

    def __init__(self, tests: Mapping[str, CaseTests], sandbox: Sandbox) -> None:
        self._tests = tests
        self._sandbox = sandbox
        self._known: dict[tuple[str, str], bool] = {}
        self._unusable: dict[str, str] = {}  # runner: why
        self._missing: set[str] = set()

    def passes(self, case: Case, middle: str) -> bool | None:
        test = self._find(case)
        executable = self._executable(test) if test else None
        if test is None or executable is None:
            return None
        key = (test.key, case.whole(middle))
        if key not in self._known:
            self._known[key] = self._sandbox.passes(make_job(test, case.whole(middle), executable))
        return self._known[key]

    @property
    def notes(self) -> list[str]:
        """Which tests could not be run, and why."""
        notes = [f"tests for {runner} were not run: {why}" for runner, why in sorted(self._unusable.items())]
        if self._missing:
            notes.append(f"{len(self._missing)} tests are not in the tests file, {min(self._missing)} among them")
        return notes

    def _find(self, case: Case) -> CaseTests | None:
        if case.tests is None:
            return None
        if case.tests not in self._tests:
            self._missing.add(case.tests)
        return self._tests.get(case.tests)

    def _executable(self, test: CaseTests) -> str | None:
        runner = RUNNERS[test.runner]
        executable = runner.find()
        if not has_limits():
            self._unusable[test.runner] = "this system has no limits to run them under"
        elif executable is None:
            self._unusable[test.runner] = f"{runner.program} is not installed"
        elif not runner.is_guarded and not self._sandbox.isolation:
            self._unusable[test.runner] = "this system makes no namespace without a network for it"
        return None if test.runner in self._unusable else executable
