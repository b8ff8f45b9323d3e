"""A script: sets limits on itself and becomes the command. Imports nothing of midfill.

    launch.py CPU_SECONDS MEMORY_LIMIT BYTES FILE_BYTES COMMAND...

`MEMORY_LIMIT` is the name of a limit of `resource`: `RLIMIT_AS` counts all addresses, `RLIMIT_DATA` only memory that
can be written, for programs that reserve far more than they use (node, java). Limits are set here rather than between
fork and exec of the caller, whose other threads may hold locks then.
"""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress


def main(cpu_seconds: str, memory_limit: str, memory: str, file_bytes: str, *command: str) -> None:
    limits = {
        "RLIMIT_CPU": int(cpu_seconds),
        memory_limit: int(memory),
        "RLIMIT_FSIZE": int(file_bytes),
        "RLIMIT_CORE": 0,
    }
    for name, value in limits.items():
        limit_to(getattr(resource, name), value)
    os.execv(command[0], command)


def limit_to(limit: int, value: int) -> None:
    """Set a limit as low as asked, or lower where it cannot be that high. macOS has memory limits in name only, and
    refuses to set them."""
    _, hard = resource.getrlimit(limit)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(limit, (value, value))


if __name__ == "__main__":
    main(*sys.argv[1:])
