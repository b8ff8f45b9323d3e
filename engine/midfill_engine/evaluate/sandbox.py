"""Runs a program that nobody has read: with limits, in a folder of its own, without a network.

What holds it, strongest first: namespaces of its own for the network and for processes where the system lets us make
them (`unshare`), limits on processor time, memory and file size, a wall clock after which everything it started is
killed, an empty environment, a folder that is removed behind it, and for Python the audit hook of `guard`. This is
meant for what a model writes by mistake. It is no protection against code that is written to break out: run unknown
*tests* in a container.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

_LAUNCH = Path(__file__).with_name("launch.py")
_FILE_BYTES = 16 * 2**20
_PROBE_TIMEOUT_S = 10.0
_NEW_NAMESPACES = ("--net", "--pid", "--fork", "--kill-child")
_OUTPUT = "stdout.txt"


class Memory(StrEnum):
    """What a memory limit counts: see `launch`."""

    ADDRESSES = "RLIMIT_AS"
    DATA = "RLIMIT_DATA"


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What one program may use. `wall_s` bounds also one that sleeps."""

    cpu_s: int = 10
    wall_s: float = 30.0
    memory: int = 2**30

    def __post_init__(self) -> None:
        for name in ("cpu_s", "wall_s", "memory"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, got {getattr(self, name)}")


@dataclass(frozen=True, kw_only=True)
class Job:
    """A command (its first word an absolute path) in a folder with these files. It has passed when it exits with 0
    and `word` is the last line that it wrote; it gets the word on stdin."""

    command: tuple[str, ...]
    files: Mapping[str, str]
    word: str
    memory: Memory = Memory.ADDRESSES


def has_limits() -> bool:
    """Whether this system has the limits that programs are run under."""
    return find_spec("resource") is not None


class Sandbox:
    """Runs jobs one after another, where `has_limits`."""

    def __init__(self, bounds: Bounds | None = None, isolation: tuple[str, ...] | None = None) -> None:
        """`isolation`: command that leads into new namespaces; None: the strongest that works here."""
        self._bounds = bounds or Bounds()
        self.isolation = find_isolation() if isolation is None else isolation

    def passes(self, job: Job) -> bool:
        """Run the job and tell whether it passed; whatever it does, it is over when this returns."""
        with tempfile.TemporaryDirectory(prefix="midfill-eval-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            (folder / "work").mkdir()
            for file, text in job.files.items():
                (folder / "work" / file).write_text(text, "utf-8", errors="replace")
            code = self._run(job, folder)
            return code == 0 and _last_line(folder / _OUTPUT) == job.word

    def _run(self, job: Job, folder: Path) -> int:
        """The exit code; negative where a signal ended it."""
        with (folder / _OUTPUT).open("wb") as output:
            process = subprocess.Popen(
                self._command(job),
                cwd=folder / "work",
                env=_environment(folder / "work"),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                process.communicate(f"{job.word}\n".encode(), timeout=self._bounds.wall_s)
            except subprocess.TimeoutExpired:
                pass
            finally:
                _kill(process)
        return process.returncode

    def _command(self, job: Job) -> list[str]:
        bounds = self._bounds
        limits = [str(bounds.cpu_s), job.memory, str(bounds.memory), str(_FILE_BYTES)]
        return [*self.isolation, sys.executable, "-I", str(_LAUNCH), *limits, *job.command]


def find_isolation() -> tuple[str, ...]:
    """The command that leads into namespaces without a network; empty where the system does not let us make them."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return ()
    for command in ((unshare, *_NEW_NAMESPACES), (unshare, "--user", "--map-current-user", *_NEW_NAMESPACES)):
        if _works([*command, sys.executable, "-I", "-c", ""]):
            return command
    return ()


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=_PROBE_TIMEOUT_S, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of ours but where programs are; home and scratch are the folder."""
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and all of its group; with a namespace for processes, all that it ever started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    process.wait()


def _last_line(path: Path) -> str:
    return path.read_bytes().rstrip().rpartition(b"\n")[2].decode("utf-8", "replace")
