"""The command line as real processes: exit codes, closed pipes, full disks, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTED = Path(__file__).with_name("scripted_fill.py")
PATIENCE_S = 60.0


def run(
    program: list[str], *arguments: str | Path, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, *program, *(str(argument) for argument in arguments)],
        input=stdin,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=PATIENCE_S,
        check=False,
    )


def run_scripted(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    return run([str(SCRIPTED)], "fill", *arguments, stdin=stdin, **environment)


def test_a_fill() -> None:
    done = run_scripted("-", "--at", "1:5", "--whole", stdin=b"x = \r\n", SCRIPTED_TEXT="1\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"x = 1\r\n\r\n", b"")


def test_version_and_help() -> None:
    told = run(["-m", "midfill_server.cli"], "--version")
    assert told.returncode == 0
    assert told.stdout.startswith(b"midfill ")
    told = run(["-m", "midfill_server.cli"], "--help")
    assert told.returncode == 0
    for name in (b"fill", b"serve", b"engine", b"bench", b"eval", b"train"):
        assert name in told.stdout


@pytest.mark.parametrize("arguments", [[], ["fil"], ["--fill"], ["fill", "--at"], ["fill", "--mode", "word"]])
def test_wrong_usage_is_one_line_and_2(arguments: list[str]) -> None:
    told = run(["-m", "midfill_server.cli"], *arguments)
    assert (told.returncode, told.stdout) == (2, b"")
    assert told.stderr.startswith(b"midfill: ")
    assert told.stderr.count(b"\n") == 1
    assert b"--help" in told.stderr


def test_ctrl_c_stops_the_work_quietly(path: Path) -> None:
    """Drafts are told on stderr, so the test sees the second step; the third is never made."""
    before = path.read_bytes()
    process = subprocess.Popen(
        [sys.executable, str(SCRIPTED), "fill", str(path), "--at", "2:12", "--watch", "--apply"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "SCRIPTED_STAND": "3"},
    )
    assert process.stderr is not None
    with process:
        while not process.stderr.readline().startswith(b"step 2"):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_nobody_reads_stdout(path: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as closed:
        process = subprocess.run(
            [sys.executable, str(SCRIPTED), "fill", str(path), "--at", "2:12"],
            stdout=closed,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_S,
            check=False,
        )
    assert process.returncode == 1
    assert process.stderr.startswith(b"midfill: nobody reads")
    assert process.stderr.count(b"\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_stdout_is_a_full_disk(path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [sys.executable, str(SCRIPTED), "fill", str(path), "--at", "2:12"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_S,
            check=False,
        )
    assert process.returncode == 1
    assert b"space" in process.stderr
    assert process.stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's way to close a stream")
def test_stdout_or_stderr_is_closed(path: Path) -> None:
    shell = f'exec "{sys.executable}" "{SCRIPTED}" fill "$0" --at 2:12'
    closed = subprocess.run(
        ["sh", "-c", f"{shell} >&-", str(path)], stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False
    )
    assert closed.returncode == 2
    assert b"stdout is closed" in closed.stderr
    mute = subprocess.run(
        ["sh", "-c", f"{shell} 2>&-", str(path)], stdout=subprocess.PIPE, timeout=PATIENCE_S, check=False
    )
    assert (mute.returncode, mute.stdout) == (0, b"a + b")


def test_a_terminal_sees_no_torch_on_the_way_to_help() -> None:
    code = "import sys; from midfill_server.cli import run; run(['fill', '--help']); print('torch' in sys.modules)"
    assert run(["-c", code]).stdout.endswith(b"False\n")
