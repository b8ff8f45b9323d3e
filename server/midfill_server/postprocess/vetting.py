"""The syntax gate: what would break the text around it is not shown, or shown last.

It stands behind the chain and not in it, because it needs the language, costs a parse, and sets middles against one
another. What is typed into a suggestion later is not judged again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from midfill_engine.syntax.gate import Gate
from midfill_server.snapshot import Snapshot


class Splice(Protocol):
    """A text for a place, and how many characters right of it give way."""

    @property
    def text(self) -> str: ...

    @property
    def num_absorbed(self) -> int: ...


S = TypeVar("S", bound=Splice)


def vetted(middles: Sequence[S], snapshot: Snapshot, is_invoked: bool) -> tuple[S, ...]:
    """Without those that make the text worse; who asked by hand gets them too, last."""
    if not middles:
        return ()
    gate = Gate(snapshot.prefix, snapshot.suffix, snapshot.language)
    is_worse = [gate.is_worse(middle.text, middle.num_absorbed) for middle in middles]
    good = [middle for middle, worse in zip(middles, is_worse, strict=True) if not worse]
    bad = [middle for middle, worse in zip(middles, is_worse, strict=True) if worse and is_invoked]
    return (*good, *bad)
