"""Free memory and disk."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator

import psutil

from midfill_server.commands.doctor.finding import Case, Finding, Level

GIB = 2**30
LEAST_MEMORY_GIB = 0.75
"""What the shipped model's process takes, libraries included."""
LEAST_DISK_GIB = 0.1


def check(_case: Case) -> Iterator[Finding]:
    """Whether there is enough for the smallest model and its logs."""
    memory = psutil.virtual_memory()
    told = f"{memory.available / GIB:.1f} of {memory.total / GIB:.1f} GiB free"
    remedy = "close something large, or end engines that nobody uses: midfill engine stop --all"
    yield _judged("memory", told, memory.available / GIB >= LEAST_MEMORY_GIB, remedy)
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free / GIB
    yield _judged("disk", f"{free:.1f} GiB free at {folder}", free >= LEAST_DISK_GIB, f"make room at {folder}")


def _judged(topic: str, told: str, is_enough: bool, remedy: str) -> Finding:
    if is_enough:
        return Finding(topic=topic, told=told)
    return Finding(topic=topic, told=told, level=Level.BROKEN, remedy=remedy)
