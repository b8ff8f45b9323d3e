"""Whether a text still agrees with what was asked, or suggested, for an earlier one.

It does if the text before the cursor has only grown, and the text after it is still the same. Two things may happen to
the text after it: an editor inserts the closing bracket of one that was typed, and somebody types over a closing
bracket that the suggestion would have replaced.
"""

from __future__ import annotations

from midfill_server.snapshot import Snapshot

CLOSERS = frozenset(")]}>\"'`")
MOST_CLOSERS = 4
"""How many closing brackets may have been inserted, or typed over, since."""


def typed_since(then: Snapshot, now: Snapshot) -> str | None:
    """What has been added before the cursor; None if something else has changed there."""
    return now.prefix[len(then.prefix) :] if now.prefix.startswith(then.prefix) else None


def still_follows(then: Snapshot, now: Snapshot, num_absorbed: int) -> bool:
    """Whether the text after the cursor is what it was; `num_absorbed` of its characters may be gone."""
    is_cut = then.is_suffix_cut and now.is_suffix_cut
    if any(_is_same(then.suffix[count:], now.suffix, is_cut) for count in range(num_absorbed + 1)):
        return True
    for count in range(1, MOST_CLOSERS + 1):
        if now.suffix[count - 1 : count] not in CLOSERS:
            return False
        if _is_same(then.suffix, now.suffix[count:], is_cut):
            return True
    return False


def typed_along(then: Snapshot, now: Snapshot) -> str | None:
    """What was typed if an answer to `then`, which is not known yet, may still agree; None if it cannot."""
    if then.uri != now.uri:
        return None
    typed = typed_since(then, now)
    if typed is None:
        return None
    return typed if still_follows(then, now, _num_closers(then.suffix)) else None


def contradicts(certain: str, typed: str) -> bool:
    """Whether the beginning of an answer and what was typed cannot both be so."""
    return not (certain.startswith(typed) or typed.startswith(certain))


def _num_closers(suffix: str) -> int:
    head = suffix[:MOST_CLOSERS]
    return next((count for count, character in enumerate(head) if character not in CLOSERS), len(head))


def _is_same(one: str, other: str, is_cut: bool) -> bool:
    """Equal; where the bounds of a snapshot cut, equal up to the nearer of the two."""
    length = min(len(one), len(other)) if is_cut else None
    return one[:length] == other[:length]
