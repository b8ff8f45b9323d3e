"""`midfill.toml` at the top of a workspace folder: what a repository may ask for.

Whoever opens a folder has not read this file. So it may say what is suggested in its files and how surely, and nothing
else: no model, no device, no address, no log. It is small, a plain file and no link, or it is not read at all.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path

from midfill_server.settings import NAMES, Complain, wire_name

NAME = "midfill.toml"
MOST_BYTES = 64 * 1024
PREFERENCES = ("enabled", "mode", "comments", "strings", "blank_lines", "languages_off", "exclude_globs")
LIMITS = ("max_tokens", "num_candidates", "min_confidence", "deadline_ms", "debounce_ms")
ALLOWED = frozenset({*PREFERENCES, *LIMITS})


def read(folder: Path, complain: Complain) -> Mapping[str, object]:
    """What the file says that it may say, by the names of the wire; nothing if it is missing or makes no sense."""
    path = folder / NAME
    try:
        said = tomllib.loads(_text(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        complain(f"{path} is not read: {error if isinstance(error, ValueError) else type(error).__name__}")
        return {}
    return _allowed(said, path, complain)


def stamp(folder: Path) -> tuple[int, int] | None:
    """Something else whenever the file may have changed."""
    try:
        status = os.lstat(folder / NAME)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _text(path: Path) -> str:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            raise ValueError("it is no small plain file")
        return file.read(MOST_BYTES).decode("utf-8-sig")


def _allowed(said: Mapping[str, object], path: Path, complain: Complain) -> Mapping[str, object]:
    taken: dict[str, object] = {}
    for key, value in said.items():
        name = wire_name(key)
        if NAMES.get(name) in ALLOWED:
            taken[name] = value
        elif name in NAMES:
            complain(f"{path}: {name} is yours to set, not a repository's")
        else:
            complain(f"{path}: {key!r} is unknown")
    return taken
