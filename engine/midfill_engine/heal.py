"""Token healing: a token that the cursor cuts goes back into the slots.

A model trained on whole tokens has never seen `retu` end a prefix: the text that follows would start inside a token.
So the cut piece leaves the pinned tokens, the slots cover it, and the answer is held to begin with its characters (and
likewise to end with those right of the cursor). Read out, they are cut off again, so that what was given never changes.

Models that were trained on holes cut anywhere (pocket) see the pieces as they are and need none of this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import torch
from torch import Tensor

from midfill_engine.tokens import TokenCodec

# A run that a tokenizer may have joined with what follows, and with the blank before it: a word, an operator, an
# indentation. A lone surrogate is no text and is never healed.
_LEFT = re.compile(r" ?(?:[^\W\d_]|_)+\Z| ?[^\s\w\ud800-\udfff]{1,4}\Z|[ \t]+\Z")
_RIGHT = re.compile(r"(?:[^\W\d_]|_)+|[^\s\w\ud800-\udfff]{1,4}|[ \t]+")
_LONGEST = 24  # characters; a longer run is no token of anybody's
_NUDGE = 0.1  # logits
_IMPOSSIBLE = 10**6  # tokens


@dataclass(frozen=True, kw_only=True)
class Healing:
    """Characters that go back into the slots: the end of the prefix, the beginning of the suffix."""

    left: str = ""
    right: str = ""

    @property
    def is_needed(self) -> bool:
        return bool(self.left or self.right)


def find_healing(prefix: str, suffix: str) -> Healing:
    """What the cursor may have cut. Nothing is healed on the right unless the cursor stands inside a run."""
    left = _LEFT.search(prefix[-_LONGEST - 1 :])
    right = _RIGHT.match(suffix[: _LONGEST + 1])
    left_text = left[0] if left and len(left[0]) <= _LONGEST else ""
    right_text = right[0] if right and len(right[0]) <= _LONGEST else ""
    if not left_text or not right_text or not _is_one_run(left_text, right_text):
        right_text = ""
    return Healing(left=left_text, right=right_text)


def _is_one_run(left: str, right: str) -> bool:
    return _RIGHT.fullmatch((left.lstrip() or left) + right) is not None


class AffixConstraint:
    """Holds the slots' text to begin with `left` and to end with `right` (a `denoise.constraint.Constraint`).

    Slots are settled from the left edge inwards: the first may hold what begins with `left`, or a beginning of it, in
    which case the next must go on from there; likewise from the last slot before the middle's end. The end is where
    the model itself puts its first null, but for what `right` needs. A part is only allowed as long as the slots that
    are left can hold the rest. Where there are too few slots for both ends nothing is taken away.
    """

    def __init__(self, healing: Healing, codec: TokenCodec, null: int | None) -> None:
        self._begin = _Edge(healing.left.encode(), codec, is_left=True)
        self._end = _Edge(healing.right.encode(), codec, is_left=False)
        self._pieces = codec.token_bytes
        self._null = null

    def apply(self, logits: Tensor) -> Tensor:
        num_slots = logits.shape[1]
        if self._begin.num_needed + self._end.num_needed > num_slots:
            return logits
        for row in logits:
            first_free = self._settle(row, range(num_slots - self._end.num_needed), self._begin)
            if self._end.text:
                last = self._bound(row, first_free) - 1
                self._settle(row, range(last, first_free - 1, -1), self._end)
        return logits

    def _settle(self, row: Tensor, slots: range, edge: _Edge) -> int:
        """Constrain row [M, V] along `slots` until the edge's text stands; the first slot that is free."""
        rest = edge.text
        for num_left, slot in zip(range(len(slots), 0, -1), slots, strict=True):
            if not rest:
                return slot
            _allow(row[slot], edge.allowed(rest, num_left, row.device))
            rest = edge.after(rest, self._pieces[int(row[slot].argmax())])
        return slots.stop

    def _bound(self, row: Tensor, first_free: int) -> int:
        """Where row [M, V] ends: its first null behind the left edge, put off where the right edge needs more slots."""
        if self._null is None:
            return len(row)
        best = row[first_free:].argmax(-1).tolist()
        end = first_free + (best.index(self._null) if self._null in best else len(best))
        least = first_free + self._end.num_needed
        if end >= least:
            return end
        if least < len(row):  # just likeliest: the model may still think better of it at the next step
            row[least, self._null] = row[least].max() + _NUDGE
        return least


class _Edge:
    """The text that one end of the slots is held to, and the ids that may stand for it."""

    def __init__(self, text: bytes, codec: TokenCodec, *, is_left: bool) -> None:
        self.text = text
        self._codec = codec
        self._is_left = is_left
        self._needed = {0: 0}  # bytes still to come: the fewest tokens that can stand for them
        self._allowed: dict[tuple[int, int], Tensor] = {}
        for length in range(1, len(text) + 1):
            self._needed[length] = self._count(text[-length:] if is_left else text[:length])

    @property
    def num_needed(self) -> int:
        """The fewest tokens that can stand for all of the text."""
        return self._needed[len(self.text)]

    def after(self, rest: bytes, piece: bytes) -> bytes:
        """What of `rest` is still to come behind a token."""
        num_left = max(0, len(rest) - len(piece))
        return rest[len(rest) - num_left :] if self._is_left else rest[:num_left]

    def allowed(self, rest: bytes, num_slots: int, device: torch.device) -> Tensor:
        """Ids that may stand next where `rest` is to come and `num_slots` are left, [n]."""
        key = (len(rest), min(num_slots, len(rest)))
        if key not in self._allowed:
            ids = self._whole(rest) + [i for i, left in self._parts(rest) if self._needed[left] < num_slots]
            self._allowed[key] = torch.tensor(ids, dtype=torch.long, device=device)
        return self._allowed[key]

    def _count(self, rest: bytes) -> int:
        if self._whole(rest):
            return 1
        return 1 + min((self._needed[left] for _, left in self._parts(rest)), default=_IMPOSSIBLE)

    def _whole(self, rest: bytes) -> list[int]:
        return self._codec.beginning_with(rest) if self._is_left else self._codec.ending_with(rest)

    def _parts(self, rest: bytes) -> list[tuple[int, int]]:
        """Ids that stand for a part of `rest`, and how many bytes are to come after each."""
        ids = self._codec.beginnings_of(rest) if self._is_left else self._codec.endings_of(rest)
        return [(i, len(rest) - len(self._codec.token_bytes[i])) for i in ids]


def _allow(logits: Tensor, ids: Tensor) -> None:
    """Leave only `ids` [n] in logits [V]; all of them where that would leave nothing."""
    kept = logits[ids]
    if bool(torch.isinf(kept).all()):
        return
    logits.fill_(float("-inf"))
    logits[ids] = kept


def cut_healed(text: str, healing: Healing) -> str | None:
    """The middle inside a healed answer; None where the answer does not begin and end as it must."""
    if len(text) < len(healing.left) + len(healing.right):
        return None
    if not (text.startswith(healing.left) and text.endswith(healing.right)):
        return None
    return text[len(healing.left) : len(text) - len(healing.right)]
