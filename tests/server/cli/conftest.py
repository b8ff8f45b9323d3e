"""The command `midfill fill` in this process, with a scripted engine behind its doors."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from midfill_engine.api import Engine, EngineOptions, EngineStatus, EngineUnavailable
from midfill_server.commands import fill as fill_command
from midfill_server.commands.boundary import exit_code_of
from midfill_server.commands.engines import Doors
from support.scripted import ScriptedEngine


@dataclass(frozen=True)
class Outcome:
    code: int
    out: bytes
    err: str

    def check_one_line(self, code: int, *words: str) -> None:
        """A failure: its exit code, nothing on stdout, one line on stderr with all the words."""
        assert (self.code, self.out) == (code, b"")
        assert self.err.startswith("midfill: ")
        assert self.err.count("\n") == 1
        for word in words:
            assert word in self.err


class NoEngine(ScriptedEngine):
    """What `connect` gives where no engine process runs and none may be started."""

    async def status(self) -> EngineStatus:
        raise EngineUnavailable("no engine is running")


@dataclass
class Opened:
    """Doors that note what was opened, and with which options."""

    local: ScriptedEngine
    running: ScriptedEngine
    options: list[EngineOptions]
    told: list[str]

    def doors(self) -> Doors:
        return Doors(connect=self._open("connect", self.running), open_local=self._open("local", self.local))

    def _open(self, name: str, engine: ScriptedEngine) -> Callable[[EngineOptions], Engine]:
        def open_engine(options: EngineOptions) -> Engine:
            self.told.append(name)
            self.options.append(options)
            return engine

        return open_engine


def opened(local: ScriptedEngine | None = None, running: ScriptedEngine | None = None) -> Opened:
    return Opened(local or ScriptedEngine(), running or NoEngine(), [], [])


class Command:
    def __init__(self, capture: pytest.CaptureFixture[bytes], patch: pytest.MonkeyPatch) -> None:
        self._capture = capture
        self._patch = patch

    def __call__(
        self,
        *arguments: str | Path,
        engine: ScriptedEngine | None = None,
        at: Opened | None = None,
        stdin: bytes | None = None,
    ) -> Outcome:
        """Run it; `engine` is the one that `open_local` gives."""
        if stdin is not None:
            self._patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        doors = (at or opened(engine)).doors()
        try:
            code = exit_code_of(lambda: fill_command.main([str(argument) for argument in arguments], doors))
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = self._capture.readouterr()
        return Outcome(code, out, err.decode())


@pytest.fixture
def fill(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(capsysbinary, monkeypatch)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A small file with a hole after `return ` at 2:12."""
    path = tmp_path / "sum.py"
    path.write_bytes(b"def add(a, b):\n    return \n\nprint(add(1, 2))\n")
    return path
