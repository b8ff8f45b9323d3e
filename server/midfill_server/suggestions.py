"""What was suggested, so that typing into a suggestion never asks the model again.

A suggestion answers a later request if the text before the cursor has grown by what the suggestion begins with, whether
typed or accepted word by word, and the text after it is still the same (see `agreement`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from midfill_server.agreement import still_follows, typed_since
from midfill_server.postprocess import Middle
from midfill_server.snapshot import Snapshot

MOST_KEPT = 64


@dataclass(frozen=True)
class Suggestion:
    """What was offered where. `is_full`: made for somebody who asked for several. `seed`: of drafts not made yet.

    `is_ahead`: nobody has asked for it yet. `spares`: what is not worth showing before something of it has been typed;
    `is_good` tells of them whether they may be shown at all.
    """

    snapshot: Snapshot
    middles: tuple[Middle, ...]
    is_full: bool = False
    seed: int = 0
    is_ahead: bool = False
    spares: tuple[Middle, ...] = ()
    is_good: Callable[[Middle], bool] = lambda _middle: True


@dataclass(frozen=True)
class Shown:
    """What somebody who asks again has seen. `seed`: of other drafts."""

    middles: tuple[Middle, ...] = ()
    seed: int = 0


class SuggestionCache:
    """The latest suggestions of all documents."""

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._kept: OrderedDict[tuple[str, str, str], Suggestion] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, suggestion: Suggestion) -> None:
        """Remember a suggestion, in place of an earlier one for the same hole."""
        key = _key(suggestion.snapshot)
        self._kept.pop(key, None)
        self._kept[key] = suggestion
        while len(self._kept) > self._most_kept:
            self._kept.popitem(last=False)

    def find(self, snapshot: Snapshot, is_full: bool = False) -> tuple[str, ...]:
        """What is left of the newest suggestion that agrees with the text, best first; nothing if none does."""
        for suggestion in reversed(self._kept.values()):
            if is_full <= suggestion.is_full and suggestion.snapshot.uri == snapshot.uri:
                rests = tuple(rest for _, rest in _rests(suggestion, suggestion.middles, snapshot))
                if not rests and suggestion.snapshot.prefix != snapshot.prefix:
                    rests = _spare(suggestion, snapshot)
                if rests:
                    return rests
        return ()

    def take_ahead(self, snapshot: Snapshot) -> bool:
        """Whether what is known for a place was made before anybody asked; from now on somebody has."""
        found = self._kept.get(_key(snapshot))
        if found is None or not found.is_ahead:
            return False
        self._kept[_key(snapshot)] = replace(found, is_ahead=False)
        return True

    def shown_at(self, snapshot: Snapshot) -> Shown:
        """What has been suggested at a place, whether for this place or typed into."""
        for suggestion in reversed(self._kept.values()):
            if _key(suggestion.snapshot) == _key(snapshot):
                return Shown(suggestion.middles, suggestion.seed)
        return Shown(tuple(Middle(rest) for rest in self.find(snapshot)))

    def has(self, uri: str) -> bool:
        """Whether anything is known of a document."""
        return any(key[0] == uri for key in self._kept)

    def is_completed(self, snapshot: Snapshot) -> bool:
        """Whether a suggestion has just been put in, or typed, to its end."""
        return any(
            typed_since(then, snapshot) == middle.text and still_follows(then, snapshot, middle.num_absorbed)
            for suggestion in self._kept.values()
            if (then := suggestion.snapshot).uri == snapshot.uri
            for middle in (*suggestion.middles, *suggestion.spares)
        )

    def forget(self, uri: str) -> None:
        """Forget a document's suggestions."""
        for key in [key for key in self._kept if key[0] == uri]:
            del self._kept[key]

    def clear(self) -> None:
        """Forget all: they were made with other settings."""
        self._kept.clear()


def _key(snapshot: Snapshot) -> tuple[str, str, str]:
    return snapshot.uri, snapshot.prefix, snapshot.suffix


def _spare(suggestion: Suggestion, now: Snapshot) -> tuple[str, ...]:
    rests = _rests(suggestion, suggestion.spares, now)
    return next(((rest,) for middle, rest in rests if suggestion.is_good(middle)), ())


def _rests(suggestion: Suggestion, middles: tuple[Middle, ...], now: Snapshot) -> Iterator[tuple[Middle, str]]:
    typed = typed_since(suggestion.snapshot, now)
    if typed is None:
        return
    for middle in middles:
        rest = middle.text[len(typed) :]
        if rest and middle.text.startswith(typed) and still_follows(suggestion.snapshot, now, middle.num_absorbed):
            yield middle, rest
