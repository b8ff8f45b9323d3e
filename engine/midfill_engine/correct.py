"""Self-correction: of several drafts those come first that leave the text around them whole, by its syntax.

A model of tokens does not see that a bracket stays open or that a body is missing; a parser does, within a millisecond
or two. Knows drafts only as texts: what is better by likelihood stays so among drafts that are as sound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from midfill_engine.syntax.gate import Gate, Verdict

T = TypeVar("T")


@dataclass(frozen=True)
class Sifted(Generic[T]):
    """`good`: sound drafts first, then those that do no damage that anybody can tell, of all these the first
    `num_judged` have been looked at; `bad`: those that break the text."""

    good: list[T]
    bad: list[T]
    num_judged: int


def sift(drafts: Sequence[T], text_of: Callable[[T], str], gate: Gate, num_wanted: int) -> Sifted[T]:
    """The drafts by what they do to the text, in their order otherwise. Once `num_wanted` sound ones are found, the
    others are judged no more and come after those that were."""
    found: dict[Verdict, list[T]] = {verdict: [] for verdict in Verdict}
    waiting = list(drafts)
    while waiting and len(found[Verdict.SOUND]) < num_wanted:
        draft = waiting.pop(0)
        found[gate.verdict(text_of(draft))].append(draft)
    judged = [*found[Verdict.SOUND], *found[Verdict.NO_WORSE]]
    return Sifted([*judged, *waiting], found[Verdict.WORSE], len(judged))
