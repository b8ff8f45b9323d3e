"""A script: runs a Python program in this folder that can neither reach the network, nor start processes, nor write
outside the folder. Imports nothing of midfill.

    guard.py script PROGRAM.py        the program runs to its end
    guard.py unittest MODULE          all tests of the module pass, and there is at least one

The word that comes in on stdin is written to stdout if that is so; a program that exits early does not get there. The
guard is an audit hook: it stops what happens by mistake, and is no prison for a program that wants to get out.
"""

from __future__ import annotations

import os
import runpy
import sys
import unittest
from pathlib import Path

REFUSED = (
    "socket.__new__",
    "socket.connect",
    "socket.bind",
    "socket.getaddrinfo",
    "subprocess.Popen",
    "os.fork",
    "os.forkpty",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "os.kill",
    "os.killpg",
    "os.putenv",
    "ctypes.dlopen",
    "signal.pthread_kill",
)
CHANGING = (
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.chown",
    "shutil.rmtree",
    "shutil.move",
    "shutil.copyfile",
)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Refused(RuntimeError):  # noqa: N818 - it is a verdict
    """The program wanted to do what it may not do here."""


def watch(folder: str) -> None:
    """From now on nothing is done that is refused."""
    inside = os.path.realpath(folder) + os.sep

    def is_inside(path: object) -> bool:
        is_path = isinstance(path, str | bytes | os.PathLike)
        return is_path and os.path.realpath(os.fsdecode(path)).startswith(inside)  # type: ignore[arg-type]

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in REFUSED:
            raise Refused(event)
        if event == "open" and _writes(arguments) and not is_inside(arguments[0]):
            raise Refused(f"write to {arguments[0]!r}")
        if event in CHANGING and not all(is_inside(path) for path in arguments[:2] if isinstance(path, str | bytes)):
            raise Refused(f"{event} of {arguments[0]!r}")

    sys.addaudithook(hook)


def _writes(arguments: tuple[object, ...]) -> bool:
    path, _, flags = arguments
    is_open_already = isinstance(path, int)
    return not is_open_already and path != os.devnull and isinstance(flags, int) and bool(flags & WRITING)


def passes_tests(module: str) -> bool:
    result = unittest.main(module=module, argv=["unittest"], exit=False, verbosity=0).result
    return result.wasSuccessful() and result.testsRun > 0


def main(how: str, what: str) -> None:
    word = sys.stdin.readline().strip()
    write, leave, flush = os.write, os._exit, sys.stdout.flush  # a program may replace any of them
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    sys.argv = [what]
    watch(folder)
    if how == "unittest":
        if not passes_tests(what):
            leave(1)
    else:
        runpy.run_path(what, run_name="__main__")
    flush()
    write(1, f"\n{word}\n".encode())
    leave(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
