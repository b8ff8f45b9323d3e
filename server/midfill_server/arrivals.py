"""Which text a request is about: the one at the moment it arrived.

A handler that is a coroutine begins some turns of the event loop after its message was read. When keys come in a burst
the text has changed by then, and a request that was right when it was sent would be answered for another place.
"""

from __future__ import annotations

from contextvars import ContextVar

_ARRIVED: ContextVar[int | None] = ContextVar("arrived", default=None)


class Arrivals:
    """Counts the changes of all texts; each message knows how many there had been when it arrived."""

    def __init__(self) -> None:
        self._num_changes = 0
        self._last_change: dict[str, int] = {}

    def note_message(self) -> None:
        """A message is about to be handled; tasks that are begun for it remember that."""
        _ARRIVED.set(self._num_changes)

    def note_change(self, uri: str) -> None:
        """The text of a document has changed."""
        self._num_changes += 1
        self._last_change[uri] = self._num_changes

    def forget(self, uri: str) -> None:
        """A document is closed."""
        self._last_change.pop(uri, None)

    def is_outdated(self, uri: str) -> bool:
        """Whether the document has changed since the message arrived that is being handled."""
        arrived = _ARRIVED.get()
        return arrived is not None and self._last_change.get(uri, 0) > arrived
