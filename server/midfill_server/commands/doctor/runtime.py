"""The directory by which servers and engines find each other: it must be the user's and nobody else's."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from midfill_engine import api
from midfill_engine.api import EngineError
from midfill_server.commands.doctor.finding import Case, Finding, Level

TOPIC = "runtime"


def check(case: Case) -> Iterator[Finding]:
    """Whether it is there and private, and can be written to."""
    try:
        folder = api.runtime_directory(case.options)
    except EngineError as error:
        yield Finding(topic=TOPIC, told=str(error), level=Level.BROKEN, remedy="ls -ld the folder; chmod 700 it")
        return
    yield _judged(folder)


def _judged(folder: Path) -> Finding:
    mode = stat.S_IMODE(folder.stat().st_mode)
    told = f"{folder}, permissions {mode:o}"
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding(
            topic=TOPIC, told=f"{told}: not yours to write", level=Level.BROKEN, remedy=f"chmod 700 {folder}"
        )
    if sys.platform != "win32" and mode & 0o077:
        return Finding(topic=TOPIC, told=f"{told}: others can enter", level=Level.BROKEN, remedy=f"chmod 700 {folder}")
    return Finding(topic=TOPIC, told=told)
