"""What was suggested, so that typing into a suggestion never asks the model again.

A suggestion answers a later request if the text before the cursor has grown by what the suggestion begins with, whether
typed or accepted word by word, and the text after it is still the same. Two things may happen to the text after it: an
editor inserts the closing bracket of one that was typed, and somebody types over a closing bracket that the suggestion
would have replaced.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from midfill_server.postprocess import Middle
from midfill_server.snapshot import Snapshot

MOST_KEPT = 64
CLOSERS = frozenset(")]}>\"'`")
MOST_INSERTED = 4


@dataclass(frozen=True)
class Suggestion:
    """What was offered where. `is_full`: made for somebody who asked for several."""

    snapshot: Snapshot
    middles: tuple[Middle, ...]
    is_full: bool = False


class SuggestionCache:
    """The latest suggestions of all documents."""

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._kept: OrderedDict[tuple[str, str, str], Suggestion] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, suggestion: Suggestion) -> None:
        """Remember a suggestion, in place of an earlier one for the same hole."""
        snapshot = suggestion.snapshot
        key = (snapshot.uri, snapshot.prefix, snapshot.suffix)
        self._kept.pop(key, None)
        self._kept[key] = suggestion
        while len(self._kept) > self._most_kept:
            self._kept.popitem(last=False)

    def find(self, snapshot: Snapshot, is_full: bool = False) -> tuple[str, ...]:
        """What is left of the newest suggestion that agrees with the text, best first; nothing if none does."""
        for suggestion in reversed(self._kept.values()):
            if is_full <= suggestion.is_full and suggestion.snapshot.uri == snapshot.uri:
                rests = tuple(_rests(suggestion, snapshot))
                if rests:
                    return rests
        return ()

    def forget(self, uri: str) -> None:
        """Forget a document's suggestions."""
        for key in [key for key in self._kept if key[0] == uri]:
            del self._kept[key]

    def clear(self) -> None:
        """Forget all: they were made with other settings."""
        self._kept.clear()


def _rests(suggestion: Suggestion, now: Snapshot) -> Iterator[str]:
    typed = _typed(suggestion.snapshot.prefix, now.prefix)
    if typed is None:
        return
    for middle in suggestion.middles:
        rest = middle.text[len(typed) :]
        if rest and middle.text.startswith(typed) and _still_follows(suggestion.snapshot, middle, now):
            yield rest


def _typed(before: str, now: str) -> str | None:
    """What has been added at the end since then; None if something else has changed."""
    return now[len(before) :] if now.startswith(before) else None


def _still_follows(then: Snapshot, middle: Middle, now: Snapshot) -> bool:
    is_cut = then.is_suffix_cut and now.is_suffix_cut
    if any(_is_same(then.suffix[count:], now.suffix, is_cut) for count in range(middle.num_absorbed + 1)):
        return True
    for count in range(1, MOST_INSERTED + 1):
        if now.suffix[count - 1 : count] not in CLOSERS:
            return False
        if _is_same(then.suffix, now.suffix[count:], is_cut):
            return True
    return False


def _is_same(one: str, other: str, is_cut: bool) -> bool:
    """Equal; where the bounds of a snapshot cut, equal up to the nearer of the two."""
    length = min(len(one), len(other)) if is_cut else None
    return one[:length] == other[:length]
