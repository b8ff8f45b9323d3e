"""Which holes the model is asked for together: those that stand near enough to be seen in one look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from midfill_server.ondemand.place import Place, text_in
from midfill_server.ondemand.task import Hole

MOST_APART = 2_000
"""Characters between two holes. What is further away is seen as text that is settled, not as text that develops."""

MOST_TOGETHER = 8

Group = tuple[tuple[int, Hole], ...]
"""Holes with their numbers among those of the task."""


def groups_of(lines: Sequence[str], holes: Sequence[Hole]) -> Iterator[Group]:
    """All holes in their order, in as few groups as that allows."""
    group: Group = ()
    for number, hole in enumerate(holes):
        if group and (len(group) == MOST_TOGETHER or not _is_near(lines, group[-1][1], hole)):
            yield group
            group = ()
        group = (*group, (number, hole))
    if group:
        yield group


def _is_near(lines: Sequence[str], hole: Hole, following: Hole) -> bool:
    start, end = hole.place.end, following.place.start
    if end.row - start.row > MOST_APART:
        return False
    return len(text_in(lines, Place(start, end))) <= MOST_APART
