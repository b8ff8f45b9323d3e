"""What a command can fail with.

    CommandError        it did not work; exit code 1
    └── UsageError      it was asked for in a way that cannot work; exit code 2

Errors of the engine are `midfill_engine.api.EngineError`. All of them are one line that says what to do.
"""

from __future__ import annotations


class CommandError(Exception):
    """The command failed. `str(error)` is shown to the user as it is."""


class UsageError(CommandError):
    """The command line asks for something that cannot be done."""
