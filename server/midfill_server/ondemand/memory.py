"""What was last made on demand in a document, so that another draft of it can be asked for.

    made ──(the client puts it in)──▶ there ──(changes elsewhere: moved along)──▶ there ──(a change in it)──▶ forgotten
      └──(it does not, or not yet)──▶ still the old place, which is moved along in the same way

Clients put edits in as they like: whole, cut down to what differs, or in several changes. So what was made counts as
put in when it stands where it should, whatever the changes were that led to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from midfill_server.documents import Change
from midfill_server.ondemand.place import Place, moved, text_in
from midfill_server.ondemand.task import Task

Texts = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Made:
    """A task and what came of it. `before`, `old`: places and texts of the holes without it; `after`, `new`: with it.

    `shown`: the middles that were offered so far. `seed`: of the next draft. `is_there`: the client has put it in.
    """

    task: Task
    before: tuple[Place, ...]
    old: Texts
    after: tuple[Place, ...]
    new: Texts
    shown: tuple[Texts, ...]
    seed: int
    is_there: bool = False


class Memory:
    """The last thing made in each document."""

    def __init__(self) -> None:
        self._made: dict[str, Made] = {}

    def keep(self, uri: str, made: Made) -> None:
        self._made[uri] = made

    def forget(self, uri: str) -> None:
        self._made.pop(uri, None)

    def note(self, uri: str, changes: Iterable[Change], lines: Sequence[str]) -> None:
        """The document has changed, and now has these lines."""
        made = self._made.get(uri)
        if made is None:
            return
        if not made.is_there and texts_in(lines, made.after) == made.new:
            self._made[uri] = replace(made, is_there=True)
            return
        for change in changes:
            made = _moved(made, change)
        if made.is_there and not made.after:
            self.forget(uri)
        else:
            self._made[uri] = made

    def again(self, uri: str, lines: Sequence[str]) -> Made | None:
        """What another draft can be made of: its task, with the holes where they are now; None if there is nothing."""
        made = self._made.get(uri)
        if made is None:
            return None
        places, texts = (made.after, made.new) if made.is_there else (made.before, made.old)
        if not places or texts_in(lines, places) != texts:
            return None
        holes = (replace(hole, place=place) for hole, place in zip(made.task.holes, places, strict=True))
        confirms = made.task.needs_confirmation and not made.is_there
        return replace(made, task=replace(made.task, holes=tuple(holes), needs_confirmation=confirms))


def texts_in(lines: Sequence[str], places: Iterable[Place]) -> Texts:
    """What stands at each of the places."""
    return tuple(text_in(lines, place) for place in places)


def _moved(made: Made, change: Change) -> Made:
    if made.is_there:
        return replace(made, after=_all_moved(made.after, change))
    return replace(made, before=_all_moved(made.before, change))


def _all_moved(places: tuple[Place, ...], change: Change) -> tuple[Place, ...]:
    """All of them, or none if the change was in one of them."""
    found = [new for place in places if (new := moved(place, change)) is not None]
    return tuple(found) if len(found) == len(places) else ()
