"""Where a command ends: whatever it raises becomes one line on stderr and an exit code.

0    done                              2    asked for in a way that cannot work
1    failed                            130  stopped with Ctrl-C
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

from midfill_engine.api import EngineError, PresetError, RequestError
from midfill_server.commands.errors import CommandError, UsageError

FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130

TRACEBACK_VARIABLE = "MIDFILL_TRACEBACK"


def exit_code_of(command: Callable[[], int]) -> int:
    """Run the command; its exit code, or that of what it raised."""
    try:
        return command()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            traceback.print_exc()
        say(message_of(error))
        return WRONG_USAGE if isinstance(error, UsageError | RequestError | PresetError) else FAILED


def message_of(error: Exception) -> str:
    """One line for the user."""
    match error:
        case CommandError() | EngineError():
            return " ".join(str(error).split())
        case BrokenPipeError():
            return "nobody reads the output any more, so the rest of it was dropped"
        case MemoryError():
            return "not enough memory: close other programs or take a smaller preset"
        case OSError():
            return _message_of_os_error(error)
        case _:
            told = " ".join(f"{type(error).__name__}: {error}".split())
            return f"internal error ({told}); run it again with {TRACEBACK_VARIABLE}=1 to see where, and report that"


def _message_of_os_error(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"


def say(line: str) -> None:
    """A line to the user on stderr, if there is anybody left to tell."""
    if sys.stderr is None:
        return
    try:
        print(f"midfill: {line}", file=sys.stderr, flush=True)
    except OSError:
        return
