"""What a status bar shows: told to the client when it changes, and only then.

The shape is that of copilot's `didChangeStatus`, which status bars know already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Normal: at your service. Inactive: nothing is suggested here. Warning and Error: see the message."""

    NORMAL = "Normal"
    WARNING = "Warning"
    ERROR = "Error"
    INACTIVE = "Inactive"


@dataclass(frozen=True)
class Status:
    """`busy` while a model is being loaded; fills are too short to show."""

    kind: Kind = Kind.NORMAL
    message: str = ""
    busy: bool = False


class StatusLine:
    """The engine's status, or that there is nothing to be had in this document."""

    def __init__(self, tell: Callable[[Status], None]) -> None:
        self._tell = tell
        self._engine = Status()
        self._inactive = ""
        self._shown = Status()

    def show_engine(self, status: Status) -> None:
        """The engine's status has, or may have, changed."""
        self._engine = status
        self._refresh()

    def show_inactive(self, reason: str) -> None:
        """Why nothing is suggested in the document in use; empty: something is."""
        self._inactive = reason
        self._refresh()

    def _refresh(self) -> None:
        status = Status(Kind.INACTIVE, self._inactive) if self._inactive else self._engine
        if status != self._shown:
            self._shown = status
            self._tell(status)
