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

# A run that a tokenizer may have joined with what follows: a word, an operator, an indentation.
_LEFT = re.compile(r"(?:[^\W\d_]|_)+\Z|[^\s\w]{1,4}\Z|[ \t]+\Z")
_RIGHT = re.compile(r"(?:[^\W\d_]|_)+|[^\s\w]{1,4}|[ \t]+")
_LONGEST = 24  # characters; a longer run is no token of anybody's


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
    if not left_text or not right_text or not _is_one_run(left_text + right_text):
        right_text = ""
    return Healing(left=left_text, right=right_text)


def _is_one_run(text: str) -> bool:
    return _RIGHT.fullmatch(text) is not None


class AffixConstraint:
    """Holds the slots' text to begin with `left` and to end with `right` (a `denoise.constraint.Constraint`).

    Slots are settled from the left edge inwards: the first may hold what begins with `left`, or a beginning of it, in
    which case the next must go on from there; likewise from the last slot before the middle's end. The end is where
    the model itself puts its first null.
    """

    def __init__(self, healing: Healing, codec: TokenCodec, null: int | None) -> None:
        self._left = healing.left.encode()
        self._right = healing.right.encode()
        self._codec = codec
        self._null = null

    def apply(self, logits: Tensor) -> Tensor:
        for row in logits:
            first_free = self._apply_left(row)
            if self._right:
                self._apply_right(row, first_free)
        return logits

    def _apply_left(self, row: Tensor) -> int:
        """Constrain row [M, V] from its left edge; the first slot that is free."""
        rest = self._left
        for slot in range(len(row)):
            if not rest:
                return slot
            _allow(row[slot], self._codec.beginning_with(rest) + self._codec.beginnings_of(rest))
            rest = rest[len(self._codec.token_bytes[int(row[slot].argmax())]) :]
        return len(row)

    def _apply_right(self, row: Tensor, first_free: int) -> None:
        """Constrain the slots before the row's end, from right to left, as far as those of the left edge."""
        rest = self._right
        for slot in range(self._end(row, first_free) - 1, first_free - 1, -1):
            if not rest:
                return
            _allow(row[slot], self._codec.ending_with(rest) + self._codec.endings_of(rest))
            chosen = self._codec.token_bytes[int(row[slot].argmax())]
            rest = rest[: len(rest) - len(chosen)] if len(chosen) < len(rest) else b""

    def _end(self, row: Tensor, first_free: int) -> int:
        if self._null is None:
            return len(row)
        nulls = (row.argmax(-1) == self._null).nonzero()[:, 0].tolist()
        return next((slot for slot in nulls if slot > first_free), len(row))


def _allow(logits: Tensor, ids: list[int]) -> None:
    """Leave only `ids` in logits [V]; all of them where `ids` is empty or would leave nothing."""
    if not ids:
        return
    allowed = torch.tensor(ids, device=logits.device)
    kept = logits[allowed]
    if bool(torch.isinf(kept).all()):
        return
    logits.fill_(float("-inf"))
    logits[allowed] = kept


def cut_healed(text: str, healing: Healing) -> str | None:
    """The middle inside a healed answer; None where the answer does not begin and end as it must."""
    if len(text) < len(healing.left) + len(healing.right):
        return None
    if not (text.startswith(healing.left) and text.endswith(healing.right)):
        return None
    return text[len(healing.left) : len(text) - len(healing.right)]
