"""Where tasks are carried out: task ─▶ engine, hole by hole ─▶ replacements, or a word why there are none.

A document that changes meanwhile stops the work; nothing is ever put into a text it was not made for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from midfill_engine import api
from midfill_engine.api import Draft, EngineError
from midfill_server.capabilities import NEXT_DRAFT
from midfill_server.context import Neighbours
from midfill_server.documents import Document, DocumentStore
from midfill_server.engine_link import EngineLink
from midfill_server.exclusions import why_off_in
from midfill_server.ondemand.asking import FEATURE, Turn, request_for
from midfill_server.ondemand.catalogue import TASKS
from midfill_server.ondemand.choosing import filled_best
from midfill_server.ondemand.filled import Filling, Replacement, copy_of
from midfill_server.ondemand.groups import MOST_TOGETHER, Group, groups_of
from midfill_server.ondemand.memory import Made, Memory, Texts, texts_in
from midfill_server.ondemand.order import Order
from midfill_server.ondemand.place import Place, has_rows, place_of
from midfill_server.ondemand.task import Hole, NothingToDo, Task
from midfill_server.positions import Encoding
from midfill_server.scheduler import Scheduler, Slot
from midfill_server.settings import SettingsFor
from midfill_server.snapshot import LINE_END

CHANGED = "the document has changed"
NOT_OPEN = "the document is not open"
REPLACED = "something else was asked for"
FOUND_NOTHING = "the model has found nothing that fits here"
BREAKS = "this draft does not parse"
FOUND_NOTHING_NEW = "the model has found nothing else"
MOST_TRIES = 3
BOLDNESS = (None, 0.9, 1.2)
"""Temperatures of the tries; None is what the preset's makers found best."""

MANY_LINES = 5_000
NUM_DRAFTS_AGAIN = 4
"""Drafts of one further try: the first of them that has not been shown is taken."""


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """A draft of one of a task's holes, in the document as it is in the editor."""

    document: Document
    hole: Hole
    index: int
    num_holes: int
    draft: Draft


Watch = Callable[[Sketch], None]


def unwatched(_sketch: Sketch) -> None:
    """Nobody looks at the drafts."""


def can_instruct(preset: str) -> bool:
    """Whether a preset follows instructions, as far as that is known without loading it."""
    return any(card.can_instruct for card in api.model_cards() if card.name == preset)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a task. `message` is for people. `is_inline`: a suggestion is to be asked for anew instead."""

    title: str = ""
    replacements: tuple[Replacement, ...] = ()
    message: str = ""
    version: int | None = None
    lines: Sequence[str] = ()
    needs_confirmation: bool = False
    is_inline: bool = False

    @property
    def num_holes(self) -> int:
        return len(self.replacements)


@dataclass(frozen=True, kw_only=True)
class _Job:
    """A task on a document as it was when it was asked for."""

    document: Document
    task: Task
    request_id: str
    watch: Watch
    made: Made | None

    def watcher(self, group: Group, num_steps: int) -> Callable[[Draft], None]:
        """Who looks at the drafts of a group of holes. `num_steps`: those before, which are counted on from."""
        num_holes = len(self.task.holes)

        def show(draft: Draft) -> None:
            index, hole = group[min(draft.hole, len(group) - 1)]
            draft = replace(draft, step=num_steps + draft.step)
            self.watch(Sketch(document=self.document, hole=hole, index=index, num_holes=num_holes, draft=draft))

        return show

    @property
    def shown(self) -> tuple[Texts, ...]:
        """What is not to be offered: what was offered, and what stands there."""
        if self.made is not None:
            return self.made.shown
        old = texts_in(self.document.lines, (hole.place for hole in self.task.holes))
        return (tuple(LINE_END.sub("\n", text) for text in old),) if any(map(str.strip, old)) else ()


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Carries out tasks for one client. `is_outdated`: a document has changed since the order arrived."""

    documents: DocumentStore
    engine: EngineLink
    scheduler: Scheduler
    settings: SettingsFor
    neighbours: Neighbours
    encoding: Encoding
    client: str
    can_instruct: Callable[[str], bool] = can_instruct
    memory: Memory = field(default_factory=Memory)
    is_outdated: Callable[[str], bool] = lambda _uri: False

    async def perform(self, command: str, order: Order, request_id: str, watch: Watch = unwatched) -> Outcome:
        """Do what a command orders. Raises CancelledError only when the caller itself is cancelled."""
        document = self.documents.get(order.uri)
        if document is None:
            return Outcome(message=NOT_OPEN)
        if self.is_outdated(order.uri) or order.version not in (None, document.version):
            return Outcome(message=CHANGED)
        if why := why_off_in(document, self.settings(document.uri)):
            return Outcome(message=f"nothing is filled here: {why}")
        place = place_of(document.lines, order.span, self.encoding) if order.span else None
        if command == NEXT_DRAFT:
            return await self._next_draft(document, place, request_id, watch)
        frozen = copy_of(document)
        make = partial(TASKS[command], frozen, place, order.instruction)
        try:  # to look through a long document takes a while
            task = await asyncio.to_thread(make) if len(frozen.lines) > MANY_LINES else make()
        except NothingToDo as reason:
            return Outcome(message=str(reason))
        if document.version != frozen.version:
            return Outcome(message=CHANGED)
        return await self.carry_out(document, task, request_id, watch)

    def last_made(self, document: Document, place: Place | None) -> Made | None:
        """What another draft can be made of at a place, or anywhere if the place is not given."""
        made = self.memory.again(document.uri, document.lines)
        if made is None or place is None:
            return made
        is_near = any(has_rows(hole.place, place) for hole in made.task.holes)
        return made if is_near else None

    async def _next_draft(self, document: Document, place: Place | None, request_id: str, watch: Watch) -> Outcome:
        made = self.last_made(document, place)
        if made is not None:
            return await self.carry_out(document, made.task, request_id, watch, made)
        if place is not None:
            return Outcome(is_inline=True)
        return Outcome(message="nothing was filled in this document that could be filled again")

    async def carry_out(
        self, document: Document, task: Task, request_id: str, watch: Watch = unwatched, made: Made | None = None
    ) -> Outcome:
        """Fill the holes of a task. `made`: what was made of it before, which is not to come again."""
        frozen = copy_of(document)
        work = self._work(_Job(document=frozen, task=task, request_id=request_id, watch=watch, made=made))
        outcome = await self.scheduler.latest(Slot(document.uri, FEATURE), work)
        now = self.documents.get(document.uri)
        if now is not document or now.version != frozen.version:
            return Outcome(message=CHANGED)
        return outcome or Outcome(message=REPLACED)

    async def _work(self, job: _Job) -> Outcome:
        if why := await self.engine.until_ready():
            return Outcome(message=why)
        try:
            return await self._first_new(job)
        except EngineError as error:
            return Outcome(message=str(error))

    async def _first_new(self, job: _Job) -> Outcome:
        """The first drafts that have not been shown yet and do not break the text; else the first not shown yet."""
        shown, seed, spare = job.shown, job.made.seed if job.made else 0, None
        num_steps = 0
        for attempt in range(MOST_TRIES):
            turn = self._turn(job, seed, attempt)
            seed += turn.num_candidates
            filling, num_steps = await self._fill_each(job, turn, shown, num_steps)
            if tuple(filling.middles) not in (*shown, ()):
                if not filling.num_broken or len(job.task.holes) > MOST_TOGETHER:
                    return self._done(job, filling, shown, seed)
                spare = spare if spare is not None and len(spare.middles) >= len(filling.middles) else filling
            elif not filling.middles and not filling.num_broken:
                break
        if spare is not None:
            return self._done(job, spare, shown, seed)
        return Outcome(message=FOUND_NOTHING_NEW if job.made or filling.middles else FOUND_NOTHING)

    def _turn(self, job: _Job, seed: int, attempt: int) -> Turn:
        """A further try is a bolder one."""
        return Turn(
            seed=seed,
            num_candidates=NUM_DRAFTS_AGAIN if job.made or attempt else self.settings(job.document.uri).num_candidates,
            temperature=BOLDNESS[attempt],
            client=self.client,
            request_id=job.request_id,
        )

    def _done(self, job: _Job, filling: Filling, shown: tuple[Texts, ...], seed: int) -> Outcome:
        self._keep(job, filling, shown, seed)
        return self._outcome(job, filling)

    async def _fill_each(self, job: _Job, turn: Turn, shown: tuple[Texts, ...], num_steps: int) -> tuple[Filling, int]:
        """The filling, and how many steps have been made by then."""
        filling = Filling(job.document)
        last = job.made.shown[-1] if job.made else ()
        for group in groups_of(job.document.lines, job.task.holes):
            holes = [here for _, hole in group if (here := filling.now(hole)) is not None]
            if len(holes) < len(group):  # the group before has swallowed one
                continue
            request = request_for(filling.copy, job.task, holes, self.settings(job.document.uri), turn)
            snippets = self.neighbours.snippets(job.document.uri, holes[0].place.start.row)
            request = replace(request, snippets=snippets)
            result = await self.engine.demand(request, job.watcher(group, num_steps))
            num_steps += result.num_steps
            filling = filled_best(filling, group, result.candidates, shown, last, is_strict=job.task.is_strict)
        return filling, num_steps

    def _keep(self, job: _Job, filling: Filling, shown: tuple[Texts, ...], seed: int) -> None:
        before = tuple(replacement.place for replacement in filling.replacements)
        shown = tuple(tuple(texts[number] for number in filling.numbers) for texts in shown)
        made = Made(
            task=replace(job.task, holes=tuple(filling.holes)),
            before=before,
            old=texts_in(job.document.lines, before),
            after=tuple(filling.after),
            new=tuple(replacement.text for replacement in filling.replacements),
            shown=(*shown, tuple(filling.middles)),
            seed=seed,
        )
        self.memory.keep(job.document.uri, made)

    def _outcome(self, job: _Job, filling: Filling) -> Outcome:
        return Outcome(
            title=job.task.title,
            replacements=tuple(filling.replacements),
            message="; ".join(filter(None, (job.task.remark, _left(job.task, filling), self.remark(job.task)))),
            needs_confirmation=job.task.needs_confirmation,
            version=job.document.version,
            lines=job.document.lines,
        )

    def remark(self, task: Task) -> str:
        """What people should know of the draft."""
        preset = self.settings().preset
        if task.instruction and not self.can_instruct(preset):
            return f"{preset} cannot follow instructions: this is a fresh draft"
        return ""


def _left(task: Task, filling: Filling) -> str:
    """How many of several holes are as they were, and whether something is amiss."""
    num_left = len(task.holes) - len(filling.holes)
    if num_left:
        return f"for {num_left} of {len(task.holes)} holes the model has found nothing that fits"
    return BREAKS if filling.num_broken and not task.is_strict else ""
