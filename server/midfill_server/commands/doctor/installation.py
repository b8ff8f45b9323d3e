"""Python, midfill itself and the libraries that it stands on, by their metadata: importing them would take seconds."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from midfill_engine import __version__
from midfill_server.commands.doctor.finding import Case, Finding, Level

OLDEST_PYTHON = (3, 11)
LIBRARIES = ("torch", "transformers", "tokenizers", "safetensors", "pygls", "lsprotocol", "tree-sitter")


def check(_case: Case) -> Iterator[Finding]:
    """Whether everything is there."""
    yield Finding(topic="midfill", told=f"{__version__}, {platform.system()} {platform.machine()}")
    yield _python()
    yield from (_library(name) for name in LIBRARIES)


def _python() -> Finding:
    told = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info[:2] >= OLDEST_PYTHON:
        return Finding(topic="python", told=told)
    return Finding(topic="python", told=told, level=Level.BROKEN, remedy="install Python 3.11 or newer")


def _library(name: str) -> Finding:
    try:
        return Finding(topic=name, told=version(name))
    except PackageNotFoundError:
        remedy = f"{sys.executable} -m pip install --upgrade --force-reinstall midfill"
        return Finding(topic=name, told="not installed", level=Level.BROKEN, remedy=remedy)
