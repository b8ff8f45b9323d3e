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


def main(cpu_seconds: str, memory_limit: str, memory: str, file_bytes: str, *command: str) -> None:
    limits = {
        "RLIMIT_CPU": int(cpu_seconds),
        memory_limit: int(memory),
        "RLIMIT_FSIZE": int(file_bytes),
        "RLIMIT_CORE": 0,
    }
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, name), (value, value))
    os.execv(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
