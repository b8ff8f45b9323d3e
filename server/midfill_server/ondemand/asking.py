"""What the engine is asked for a hole, and what of its answer may be put there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from midfill_engine.api import FillRequest, Limits
from midfill_server.documents import Document
from midfill_server.ondemand.instruction import split_instruction
from midfill_server.ondemand.place import Place, around, text_in
from midfill_server.ondemand.task import Hole, Task
from midfill_server.postprocess import Middle, Site, tidy
from midfill_server.postprocess.tables import num_blanks_for
from midfill_server.settings import Settings
from midfill_server.snapshot import for_model

DEADLINE_S = 60.0
"""Somebody waits and can stop it: the best draft after this time is good enough."""

CHARACTERS_PER_TOKEN = 3
MOST_TOKENS = 1024
FEATURE = "on demand"


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One question among those of a task: with which seed, for how many drafts, by whom."""

    seed: int = 0
    num_candidates: int = 1
    temperature: float | None = None
    client: str = ""
    request_id: str = ""


def site_of(document: Document, hole: Hole) -> Site:
    """What the model sees around the middle."""
    before, after = around(document, hole.place)
    return Site(before + hole.hint + hole.lead, hole.tail + after)


def request_for(document: Document, task: Task, holes: Sequence[Hole], settings: Settings, turn: Turn) -> FillRequest:
    """The question for holes of a document that are near each other."""
    return FillRequest(
        prefix=site_of(document, holes[0]).prefix,
        suffix=site_of(document, holes[-1]).suffix,
        between=tuple(_between(document, hole, following) for hole, following in pairwise(holes)),
        language=document.language,
        mode=task.mode,
        limits=Limits(max_tokens=num_tokens(task, settings), deadline_s=DEADLINE_S),
        num_candidates=turn.num_candidates,
        seed=turn.seed,
        temperature=turn.temperature,
        selection=task.selection,
        instruction=task.instruction,
        client=turn.client,
        document=f"{document.uri}#{FEATURE}",
        request_id=turn.request_id,
    )


def _between(document: Document, hole: Hole, following: Hole) -> str:
    """What the model sees from one hole to the next."""
    text = text_in(document.lines, Place(hole.place.end, following.place.start))
    return hole.tail + for_model(text) + following.hint + following.lead


def num_tokens(task: Task, settings: Settings) -> int:
    """As much room as the user gives suggestions, or as what stood there needs."""
    wanted = min(len(task.selection) // CHARACTERS_PER_TOKEN, MOST_TOKENS)
    return max(settings.max_tokens, wanted)


def middle_of(text: str, site: Site) -> Middle | None:
    """What may be put there of a model's text. A comment that told it what to do is not put back."""
    middle = tidy(split_instruction(text)[1], site)
    num_blanks = num_blanks_for(middle.text, site) if middle is not None and not middle.num_absorbed else 0
    return replace(middle, num_absorbed=num_blanks) if middle is not None and num_blanks else middle
