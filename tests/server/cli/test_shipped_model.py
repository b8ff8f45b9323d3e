"""The command line with the shipped model, as a user has it: real processes, nothing scripted.

What the model says is not looked at: only that it says it, and that what was given stays.
"""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import textwrap
from importlib.resources import files
from pathlib import Path

import pytest

PATIENCE_S = 120.0
MIDFILL = [sys.executable, "-m", "midfill_server.cli"]


class User:
    """A user whose engines are their own: nobody else's running engine is found."""

    def __init__(self, home: Path) -> None:
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(home), "XDG_STATE_HOME": str(home / "state")}

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*MIDFILL, *(str(argument) for argument in arguments)],
            capture_output=True,
            env=self.environment,
            timeout=PATIENCE_S,
            check=False,
        )

    def check_one_line(self, code: int, word: bytes, *arguments: str | Path) -> None:
        done = self.run(*arguments)
        assert (done.returncode, done.stdout) == (code, b"")
        assert done.stderr.startswith(b"midfill: ")
        assert done.stderr.count(b"\n") == 1
        assert word in done.stderr


@pytest.fixture
def user(tmp_path: Path) -> User:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return User(home)


def test_a_fill_leaves_what_was_given_and_no_process(user: User, tmp_path: Path) -> None:
    """Of a real file of the standard library: the body of a line is taken out and filled, applied, then looked at."""
    lines = Path(textwrap.__file__).read_text("utf-8").splitlines(keepends=True)
    path = tmp_path / "textwrap.py"
    path.write_text("".join(lines), "utf-8")
    row = next(number for number, line in enumerate(lines) if line.startswith("    return "))
    end = len(lines[row].rstrip("\n"))
    done = user.run("fill", path, "--at", f"{row + 1}:12", "--to", f"{row + 1}:{end + 1}", "--apply", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["preset"] == "pocket"
    assert told["steps"] > 0
    assert told["timings_ms"]["load"] > 0
    prefix = "".join(lines[:row]) + lines[row][:11]
    suffix = lines[row][end:] + "".join(lines[row + 1 :])
    middle = told["text"] if told["candidates"] else lines[row][11:end]
    assert path.read_text("utf-8") == prefix + middle + suffix
    assert user.run("engine", "status").stdout == b"no engine is running\n"


def test_the_same_seed_gives_the_same_middle(user: User, path: Path) -> None:
    first, second = (user.run("fill", path, "--at", "2:12", "--seed", "3", "--threads", "1") for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout


def test_an_engine_that_runs_is_used_and_can_be_stopped(user: User, path: Path) -> None:
    started = user.run("engine", "start", "--json")
    try:
        assert started.returncode == 0, started.stderr
        assert json.loads(started.stdout)["state"] == "ready"
        done = user.run("fill", path, "--at", "2:12", "--json")
        assert json.loads(done.stdout)["timings_ms"]["load"] == 0
        (engine,) = json.loads(user.run("engine", "status", "--json").stdout)["engines"]
        assert (engine["preset"], engine["num_fills"]) == ("pocket", 1)
    finally:
        stopped = user.run("engine", "stop")
    assert stopped.stdout == b"stopped 1\n"
    assert user.run("engine", "status").stdout == b"no engine is running\n"


def test_a_preset_that_cannot_be_loaded(user: User, path: Path, tmp_path: Path) -> None:
    user.check_one_line(2, b"no-such", "fill", path, "--at", "1:1", "--preset", "no-such")
    empty = tmp_path / "empty"
    empty.mkdir()
    user.check_one_line(1, b"config.json", "fill", path, "--at", "1:1", "--preset", f"{empty}/")
    broken = tmp_path / "broken"
    shutil.copytree(Path(str(files("midfill_engine") / "pocket")), broken)
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    user.check_one_line(1, b"model.safetensors", "fill", path, "--at", "1:1", "--preset", f"{broken}/")
    user.check_one_line(1, b"gibberish", "fill", path, "--at", "1:1", "--device", "gibberish")


def test_ctrl_c_while_the_model_is_loaded(user: User, path: Path) -> None:
    """The loading of a model cannot be interrupted, so the process must not wait for it."""
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        [*MIDFILL, "fill", str(path), "--at", "2:12", "--apply"],
        stdout=subprocess.PIPE,
        stderr=inner,
        env={**user.environment, "TERM": "xterm-256color"},
    )
    os.close(inner)
    shown = b""
    while b"loading pocket" not in shown:
        shown += os.read(outer, 1024)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE_S)
    os.close(outer)
    assert (process.returncode, out) == (130, b"")
