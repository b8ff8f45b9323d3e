"""Editors that are installed here, and what each needs to show ghost text."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator

from midfill_server.commands.doctor.finding import Case, Finding, Level

PATIENCE_S = 10
BUILT_IN = (0, 12)
OLDEST = (0, 11)


def check(_case: Case) -> Iterator[Finding]:
    """Neovim by its version; of VS Code what a client must be."""
    neovim = shutil.which("nvim")
    if neovim:
        yield _neovim(_first_line(neovim, "--version"))
    for name in ("code", "codium", "cursor"):
        if shutil.which(name):
            told = (
                f"{name}: clients need vscode-languageclient 10 or newer for ghost text; midfill's own extension has it"
            )
            yield Finding(topic="vscode", told=told)
    if not shutil.which("midfill"):
        told = "the command midfill is not on your PATH: editors that start it by its name will not find it"
        yield Finding(
            topic="editors", told=told, level=Level.HINT, remedy="give its full path in the editor's settings"
        )
    yield Finding(topic="editors", told="without ghost text there are completion items: midfill.completionFallback")


def _neovim(said: str) -> Finding:
    found = re.search(r"(\d+)\.(\d+)", said)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    if version < OLDEST:
        told = f"{said}: too old for the plug-in"
        return Finding(topic="neovim", told=told, level=Level.HINT, remedy="install Neovim 0.11, better 0.12")
    how = "has ghost text built in" if version >= BUILT_IN else "the plug-in draws the ghost text itself"
    return Finding(topic="neovim", told=f"{said}: {how}")


def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"cannot be run ({type(error).__name__})"
    return done.stdout.partition("\n")[0].strip()
