"""The user's statistics on disk: one small file of numbers, shared by all editor windows, readable by the user only."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from midfill_server.tally import Tally

NAME = "statistics.json"
LOCK_PATIENCE_S = 1.0
MOST_BYTES = 2**20


def default_path() -> Path:
    """In the user's state directory."""
    import platformdirs  # not needed for the start

    return Path(platformdirs.user_state_path("midfill", appauthor=False)) / NAME


def read(path: Path) -> Tally:
    """What has been counted so far; nothing if the file is missing or makes no sense."""
    try:
        with path.open("rb") as file:
            return Tally.load(json.loads(file.read(MOST_BYTES)))
    except (OSError, ValueError, RecursionError):
        return Tally()


def add(path: Path, tally: Tally) -> None:
    """Count on. Raises OSError where the file cannot be written."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(path):
        whole = read(path)
        whole.add(tally)
        _write(path, json.dumps(whole.dump()))


def reset(path: Path) -> None:
    """Begin anew."""
    with suppress(FileNotFoundError):
        path.unlink()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout  # not needed for the start

    try:
        with FileLock(path.with_suffix(".lock"), timeout=LOCK_PATIENCE_S, mode=0o600):
            yield
    except Timeout:
        raise OSError(f"{path} is in use") from None


def _write(path: Path, text: str) -> None:
    """Wholly or not at all."""
    beside = path.with_suffix(f".{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    beside.replace(path)
