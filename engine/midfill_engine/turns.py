"""Whose turn it is: the pure policy of who waits, who is served next and who has been overtaken.

Plain values in, plain values out: no thread, no clock, no model. The worker holds a lock around it.

Clients take turns (round robin), each client's items in the order they came. Between an item's becoming the first of
its client and its being taken, every other client is served at most once, so nobody waits longer than one round. Of a
client and a document only the newest item waits; it inherits the place of the one it overtook, so that a fast typist
is not sent to the back of the queue by every key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Topic:
    """Who asks, and for which document. An empty `document` stands for none: nothing overtakes it."""

    client: str
    document: str

    def is_overtaken_by(self, newer: Topic) -> bool:
        return bool(self.document) and self == newer


class Turns(Generic[T]):
    """The items that wait. An item is known by identity."""

    def __init__(self) -> None:
        # A dict keeps its keys in the order they were put in: the first client is the next to be served. A client
        # without items is not in it.
        self._waiting: dict[str, list[tuple[Topic, T]]] = {}

    def __len__(self) -> int:
        return sum(len(entries) for entries in self._waiting.values())

    def __iter__(self) -> Iterator[T]:
        return (item for entries in self._waiting.values() for _, item in entries)

    def add(self, topic: Topic, item: T) -> T | None:
        """Let an item wait. Returns the item that it overtook, which no longer waits."""
        entries = self._waiting.setdefault(topic.client, [])
        for place, (older_topic, older) in enumerate(entries):
            if older_topic.is_overtaken_by(topic):
                entries[place] = (topic, item)
                return older
        entries.append((topic, item))
        return None

    def take(self) -> T | None:
        """The next item, which no longer waits. Its client goes to the back."""
        if not self._waiting:
            return None
        client = next(iter(self._waiting))
        entries = self._waiting.pop(client)
        _, item = entries.pop(0)
        if entries:
            self._waiting[client] = entries
        return item

    def remove(self, item: T) -> bool:
        """Forget an item; False: it did not wait."""
        for client, entries in self._waiting.items():
            for place, (_, waiting) in enumerate(entries):
                if waiting is item:
                    del entries[place]
                    if not entries:
                        del self._waiting[client]
                    return True
        return False

    def drain(self) -> list[T]:
        """All items, none of which waits any longer."""
        items = list(self)
        self._waiting.clear()
        return items
