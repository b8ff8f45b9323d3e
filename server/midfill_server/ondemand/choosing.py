"""Of the drafts of a group of holes the best: whole, then new, then sound by syntax, then in the model's order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from midfill_engine.api import Candidate
from midfill_server.ondemand.asking import middle_of, site_of
from midfill_server.ondemand.embedded import code_around
from midfill_server.ondemand.filled import Filling
from midfill_server.ondemand.groups import Group
from midfill_server.ondemand.memory import Texts
from midfill_server.ondemand.place import text_in
from midfill_server.ondemand.task import Hole
from midfill_server.postprocess import Middle, Site
from midfill_server.postprocess.vetting import Vetting
from midfill_server.snapshot import for_model


@dataclass(frozen=True, kw_only=True)
class _Try:
    """What a document would be with one of the drafts. `faults`: places that break it, and that do not parse."""

    filling: Filling
    middles: Texts
    num_empty: int
    faults: tuple[int, int]


def filled_best(
    filling: Filling,
    group: Group,
    candidates: Sequence[Candidate],
    shown: Sequence[Texts],
    last: Texts = (),
    *,
    is_strict: bool = False,
) -> Filling:
    """The filling with the best of the candidates in the holes of the group; without one if none has any text.

    `shown`: the texts of all holes of the task that are not to come again. `last`: those that the holes have by now;
    one that is left empty keeps what it has. `is_strict`: nothing is put in that breaks the text.
    """
    numbers = [number for number, _ in group]
    unwanted = {tuple(texts[number] for number in numbers) for texts in shown}
    drafts = [each.texts for each in candidates] or [("",) * len(group)]
    tries = [_tried(filling, group, texts, last, is_strict=is_strict) for texts in drafts]
    return min(tries, key=lambda each: (each.num_empty, each.middles in unwanted, *each.faults)).filling


def _tried(filling: Filling, group: Group, texts: Texts, last: Texts, *, is_strict: bool) -> _Try:
    tried, middles, num_unsound, num_empty = filling.fork(), [], 0, 0
    for (number, hole), text in zip(group, texts, strict=True):
        site = _site(tried, hole)
        middle = middle_of(text, site) if site is not None else None
        if site is not None and middle is not None:
            vetting = Vetting(*code_around(site, filling.original.language))
            middle = vetting.repaired(middle)
            if middle is not None:
                is_sound = vetting.is_sound(middle)
                is_bad = vetting.is_bad(middle) or (not is_sound and vetting.is_sound(_standing(filling, hole)))
                tried.num_broken += is_bad
                num_unsound += not is_sound
                middle = None if is_bad and is_strict else middle
        if middle is None or _is_there_already(filling, group, middle, hole):
            middle, num_empty = _had(last, number), num_empty + 1
        if site is not None and middle is not None:
            tried.put(number, hole, middle)
        middles.append(middle.text if middle is not None else "")
    return _Try(filling=tried, middles=tuple(middles), num_empty=num_empty, faults=(tried.num_broken, num_unsound))


def _site(filling: Filling, hole: Hole) -> Site | None:
    here = filling.now(hole)
    return None if here is None else site_of(filling.copy, here)


def _standing(filling: Filling, hole: Hole) -> Middle:
    """What stands in a hole: where the text parses with it, a draft is no beginning of something that goes on."""
    return Middle(for_model(text_in(filling.original.lines, hole.place)))


def _is_there_already(filling: Filling, group: Group, middle: Middle, hole: Hole) -> bool:
    """Of several holes one may be left as it is; of a hole that is alone another draft is asked for."""
    return len(group) > 1 and middle.text == text_in(filling.original.lines, hole.place)


def _had(last: Texts, number: int) -> Middle | None:
    return Middle(last[number]) if last and last[number] else None
