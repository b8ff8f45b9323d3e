"""`midfill engine` with a scripted fleet: what is asked of it and what is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from midfill_engine.api import EngineOptions, EngineState, EngineStatus, OnLoad, ResourceError
from midfill_server.commands import engine
from midfill_server.commands.boundary import exit_code_of
from midfill_server.commands.engine import describe

READY = EngineStatus(state=EngineState.READY, preset="pocket", device="cpu", pid=7, memory=3 * 2**20, idle_s=2.4)
LOADING = EngineStatus(state=EngineState.LOADING, preset="big", progress=0.5, message="weights", pid=8)


class ScriptedFleet:
    """A Fleet that keeps what it was asked."""

    def __init__(self, *engines: EngineStatus, error: Exception | None = None) -> None:
        self._engines = engines
        self._error = error
        self.asked: list[tuple[str, EngineOptions]] = []

    async def engine_statuses(self, options: EngineOptions) -> tuple[EngineStatus, ...]:
        self.asked.append(("statuses", options))
        return self._engines

    async def start_engine(self, options: EngineOptions, on_load: OnLoad | None = None) -> EngineStatus:
        self.asked.append(("start", options))
        if self._error is not None:
            raise self._error
        return self._engines[0]

    async def stop_engine(self, options: EngineOptions, every: bool = False) -> int:
        self.asked.append(("stop all" if every else "stop", options))
        return len(self._engines)


def check(fleet: ScriptedFleet, arguments: list[str], asked: str, options: EngineOptions) -> None:
    assert engine.main(arguments, fleet) == 0
    assert fleet.asked[-1] == (asked, options)


def test_what_is_asked_of_the_fleet(tmp_path: Path) -> None:
    fleet = ScriptedFleet(READY)
    check(fleet, ["start"], "start", EngineOptions())
    how = ["--preset", "big", "--device", "cuda", "--threads", "3", "--idle-timeout", "60"]
    expected = EngineOptions(preset="big", device="cuda", num_threads=3, idle_timeout_s=60.0, runtime_dir=tmp_path)
    check(fleet, ["start", *how, "--runtime-dir", str(tmp_path)], "start", expected)
    check(fleet, ["stop", "--preset", "big"], "stop", EngineOptions(preset="big"))
    check(fleet, ["stop", "--all"], "stop all", EngineOptions())
    check(fleet, ["status"], "statuses", EngineOptions())


def test_what_is_told_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, fleet in (
        (["start"], ScriptedFleet(READY)),
        (["stop"], ScriptedFleet(READY)),
        (["stop"], ScriptedFleet()),
        (["status"], ScriptedFleet()),
        (["status"], ScriptedFleet(READY, LOADING)),
    ):
        engine.main(arguments, fleet)
    ready = "pocket: ready, on cpu, process 7, 3 MiB, 0 fills, idle for 2 s"
    assert capsys.readouterr().out.splitlines() == [
        ready,
        "stopped 1",
        "no engine was running",
        "no engine is running",
        ready,
        "big: loading, 50%, weights, on no device yet, process 8, 0 fills, idle for 0 s",
    ]
    assert describe(READY) == ready


def test_json_is_one_line_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    engine.main(["status", "--json"], ScriptedFleet(READY, LOADING))
    told = json.loads(capsys.readouterr().out)
    assert [(entry["preset"], entry["state"], entry["pid"]) for entry in told["engines"]] == [
        ("pocket", "ready", 7),
        ("big", "loading", 8),
    ]
    engine.main(["status", "--json"], ScriptedFleet())
    assert json.loads(capsys.readouterr().out) == {"engines": []}
    engine.main(["start", "--json"], ScriptedFleet(READY))
    assert json.loads(capsys.readouterr().out)["memory"] == 3 * 2**20


def test_an_engine_that_cannot_start_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    fleet = ScriptedFleet(error=ResourceError("not enough memory: take a smaller preset"))
    assert exit_code_of(lambda: engine.main(["start"], fleet)) == 1
    assert capsys.readouterr().err == "midfill: not enough memory: take a smaller preset\n"
    assert exit_code_of(lambda: engine.main(["start", "--threads", "-1"], fleet)) == 2
