"""Programs that pass, fail, run forever, eat memory, start others, want a network: all end, and only the first pass."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import psutil
import pytest

from midfill_engine.evaluate.cases import Case
from midfill_engine.evaluate.programs import CaseTests, make_job
from midfill_engine.evaluate.sandbox import Bounds, Job, Sandbox
from midfill_engine.evaluate.trials import Trials

BOUNDS = Bounds(cpu_s=2, wall_s=5.0, memory=2**28)
QUICK = Bounds(cpu_s=1, wall_s=1.0, memory=2**28)
CHECK = CaseTests(key="t", runner="py", code="assert f(2) == 4\n")
RIGHT = "def f(x):\n    return x * x\n"


@pytest.fixture(scope="module", params=["namespaces", "guard alone"])
def isolation(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """With the namespaces of this system, if it makes any, and without."""
    return Sandbox(BOUNDS).isolation if request.param == "namespaces" else ()


def passes(program: str, isolation: tuple[str, ...], test: CaseTests = CHECK, bounds: Bounds = BOUNDS) -> bool:
    return Sandbox(bounds, isolation).passes(make_job(test, program, sys.executable))


PROGRAMS = {
    "right": (RIGHT, True),
    "noisy": (RIGHT + "print('x' * 1000)\nimport sys; sys.stderr.write('y' * 100000)\n", True),
    "wrong": (RIGHT.replace("*", "-"), False),
    "no program": ("def f(x:\n", False),
    "raises": ("1 / 0\n" + RIGHT, False),
    "leaves early": ("import sys\nsys.exit(0)\n", False),
    "leaves earlier": ("import os\nos._exit(0)\n", False),
    "deep": ("def f(x):\n    return f(x)\n", False),
    "much output": (RIGHT + "for _ in range(100):\n    print('x' * 2**20)\n", False),
    "reads stdin": (RIGHT + "assert input() == 'y'\n", False),
}


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_programs(name: str, isolation: tuple[str, ...]) -> None:
    program, expected = PROGRAMS[name]
    assert passes(program, isolation) is expected


@pytest.mark.parametrize("program", ["while True:\n    pass\n", "import time\ntime.sleep(100)\n"])
def test_an_endless_program_ends(program: str, isolation: tuple[str, ...]) -> None:
    began = time.monotonic()
    assert not passes(program, isolation, bounds=QUICK)
    assert time.monotonic() - began < 20


def test_processor_time_is_bounded_without_the_wall_clock() -> None:
    began = time.monotonic()
    assert not passes("while True:\n    pass\n", (), bounds=Bounds(cpu_s=1, wall_s=600))
    assert time.monotonic() - began < 60


def test_a_lower_limit_of_the_system_stays() -> None:
    """A hard limit below ours made every program fail, right ones too: limits cannot be raised above it."""
    lower = (
        "import os, resource, sys\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nos.execv(sys.argv[1], sys.argv[1:])"
    )
    assert passes(RIGHT, (sys.executable, "-I", "-c", lower))


def test_memory_is_bounded(isolation: tuple[str, ...]) -> None:
    """The program notices, and could not pass otherwise."""
    hog = RIGHT + "try:\n    x = bytearray(2**29)\nexcept MemoryError:\n    pass\nelse:\n    raise SystemExit\n"
    assert passes(hog, isolation)
    assert not passes(RIGHT + "x = []\nwhile True:\n    x.append(bytearray(2**20))\n", isolation)


REFUSED = {
    "socket": "import socket\nsocket.socket().connect(('127.0.0.1', 9))",
    "name": "import socket\nsocket.getaddrinfo('localhost', 80)",
    "url": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9')",
    "fork": "import os\nos.fork()",
    "process": "import subprocess\nsubprocess.run(['true'])",
    "shell": "import os\nos.system('true')",
    "exec": "import os\nos.execv('/bin/true', ['true'])",
    "write": "open(OUTSIDE, 'w')",
    "write a path": "import pathlib\npathlib.Path(OUTSIDE).write_text('x')",
    "remove": "import os\nos.remove(OUTSIDE)",
    "rmtree": "import shutil, os\nshutil.rmtree(os.path.dirname(OUTSIDE))",
    "rename": "import os\nos.rename(OUTSIDE, 'here')",
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_refused(name: str, tmp_path: Path) -> None:
    """The guard says so by its own error; a program that goes on without passes."""
    outside = tmp_path / "outside.txt"
    outside.write_text("precious", "utf-8")
    body = "".join(f"    {line}\n" for line in REFUSED[name].splitlines())
    caught = f"{RIGHT}OUTSIDE = {str(outside)!r}\ntry:\n{body}except RuntimeError as e:\n"
    assert passes(caught + "    assert type(e).__name__ == 'Refused'\nelse:\n    raise SystemExit\n", ())
    assert outside.read_text("utf-8") == "precious"


def test_the_network_is_gone_below_python_too() -> None:
    """Without the guard: in a namespace of its own a program reaches not even this machine."""
    sandbox = Sandbox(BOUNDS)
    if not sandbox.isolation:  # then node and java are not run at all: see below
        return
    code = (
        "import socket, sys\nword = sys.stdin.readline()\ntry:\n    socket.create_connection(('127.0.0.1', 9), 2)\n"
        "except OSError as error:\n    print(error.errno)\n    print(word)\n"
    )
    command = (sys.executable, "-I", "-c", code)
    assert sandbox.passes(Job(command=command, files={}, word="unreachable"))
    with_interfaces = "import socket, sys\nassert len(socket.if_nameindex()) == 1\nprint(sys.stdin.readline())\n"
    assert sandbox.passes(Job(command=(sys.executable, "-I", "-c", with_interfaces), files={}, word="only lo"))


def test_nothing_that_was_started_lives_on() -> None:
    """Not even what made itself a session of its own, where there are namespaces; else what stayed in the group."""
    sandbox = Sandbox(QUICK)
    mark = f"midfill-test-{os.getpid()}"
    start_new_session = bool(sandbox.isolation)
    code = (
        "import subprocess, sys, time\n"
        f"sleeper = [sys.executable, '-c', 'import time; time.sleep(60)', {mark!r}]\n"
        f"subprocess.Popen(sleeper, start_new_session={start_new_session})\n"
        "time.sleep(60)\n"
    )
    assert not sandbox.passes(Job(command=(sys.executable, "-I", "-c", code), files={}, word="w"))
    deadline = time.monotonic() + 10
    while _living(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _living(mark) == []


def _living(mark: str) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            if mark in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def test_the_environment_is_scrubbed(isolation: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDFILL_SECRET", "token")
    look = "import os\nassert 'MIDFILL_SECRET' not in os.environ\nassert os.getcwd() == os.environ['HOME']\n"
    assert passes(look + RIGHT, isolation)


def test_a_context_takes_the_program() -> None:
    test = CaseTests(
        key="t", runner="py", code="assert 'x * x' in code and f(3) == 9", context='{{Code}}\ncode = """{{Code}}"""'
    )
    assert passes(RIGHT, (), test)


UNITTEST = """
import unittest
from m import f
from more import four

class T(unittest.TestCase):
    def test(self):
        self.assertEqual(f(2), four)
"""


@pytest.mark.parametrize(
    ("program", "tests", "expected"),
    [(RIGHT, UNITTEST, True), ("f = abs\n", UNITTEST, False), (RIGHT, "import unittest\n", False)],
)
def test_unittest(program: str, tests: str, expected: bool) -> None:
    test = CaseTests(key="t", runner="py-unittest", module="m", test=tests, files={"more.py": "four = 4\n"})
    assert passes(program, (), test) is expected


OTHERS = {
    "node": (
        CaseTests(key="t", runner="node", code="require('node:assert').equal(f(2), 4);"),
        ["const f = x => x * x;", "const f = x => x;", "process.exit(0);"],
    ),
    "java": (
        CaseTests(
            key="t",
            runner="java",
            code="    }\n    public static void main(String[] args) {\n    assert(f(2) == 4);\n    }\n}\n",
        ),
        [
            f"import java.util.*;\nimport org.javatuples.*;\n"
            f"class Problem {{\n    static int f(int x) {{\n{body}\n    }}\n}}"
            for body in ("return x * x;", "return x;", "System.exit(0); return 0;")
        ],
    ),
}


@pytest.mark.parametrize("runner", list(OTHERS))
def test_other_languages(runner: str) -> None:
    """The first program passes and the others do not; where it cannot run, that is said instead."""
    test, (right, *wrong) = OTHERS[runner]
    sandbox = Sandbox(Bounds(cpu_s=10, wall_s=30))
    trials = Trials({"t": test}, sandbox)
    if shutil.which(runner) is None or not sandbox.isolation:
        assert trials.passes(_case(), right) is None
        assert trials.notes
        return
    assert trials.passes(_case(), right) is True
    assert [trials.passes(_case(), program) for program in wrong] == [False] * len(wrong)


def test_other_languages_need_a_namespace() -> None:
    trials = Trials({"t": OTHERS["node"][0]}, Sandbox(BOUNDS, isolation=()))
    assert trials.passes(_case(), "") is None
    assert len(trials.notes) == 1


def test_a_program_is_run_once() -> None:
    class Counting(Sandbox):
        num_runs = 0

        def passes(self, job: Job) -> bool:
            self.num_runs += 1
            return super().passes(job)

    sandbox = Counting(BOUNDS, ())
    trials = Trials({"t": CHECK}, sandbox)
    assert [trials.passes(_case(), RIGHT) for _ in range(3)] == [True] * 3
    assert trials.passes(_case(), "") is False
    assert sandbox.num_runs == 2


def test_tests_that_are_not_there_are_said() -> None:
    trials = Trials({}, Sandbox(BOUNDS, ()))
    assert trials.passes(_case(), RIGHT) is None
    assert trials.notes == ["1 tests are not in the tests file, t among them"]


@pytest.mark.parametrize("bounds", [{"cpu_s": 0}, {"wall_s": 0.0}, {"memory": -1}])
def test_bounds_are_above_nothing(bounds: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        Bounds(**bounds)  # type: ignore[arg-type]


def _case() -> Case:
    return Case(id="a", kind="k", language="python", prefix="", middle="", suffix="", group="g", tests="t")
