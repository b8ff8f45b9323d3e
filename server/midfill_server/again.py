"""Asking again: who asks explicitly where they have been answered, and nothing has changed, wants other drafts."""

from __future__ import annotations

from midfill_server.snapshot import Snapshot

Hole = tuple[str, str, str]


class Again:
    """Where the next explicit request is to be answered with something new."""

    def __init__(self) -> None:
        self._answered: Hole | None = None
        self._expected: Hole | None = None

    def note(self, snapshot: Snapshot) -> None:
        """An explicit request was answered."""
        self._answered = _hole(snapshot)

    def expect(self, snapshot: Snapshot) -> None:
        """Somebody has said that what is shown here is not what they want."""
        self._expected = _hole(snapshot)

    def take(self, snapshot: Snapshot) -> bool:
        """Whether an explicit request here is to be answered with something new."""
        hole = _hole(snapshot)
        is_again = hole in (self._answered, self._expected)
        if hole == self._expected:
            self._expected = None
        return is_again


def _hole(snapshot: Snapshot) -> Hole:
    return snapshot.uri, snapshot.prefix, snapshot.suffix
