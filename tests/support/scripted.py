"""A scripted model and a scripted engine: real implementations of FillCore and Engine with a queue of answers.

An `Answer` says what one fill gives and where it stands still. Answers are taken from the queue in the order of the
requests; an empty queue gives the default answer. Standing still is done with a `Gate`, never by sleeping: a test waits
until a step has been reached, does what it wants to do meanwhile, and opens the gate.

    core = ScriptedCore([Answer(text="return 1", num_steps=4, gate=Gate(before_step=3))])
    ...start a fill...
    core.wait_for_steps(2)          # two steps have run, the third waits at the gate (or is cancelled there)
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from midfill_engine.api import (
    Candidate,
    Draft,
    DraftToken,
    EngineState,
    EngineStatus,
    FillRequest,
    FillResult,
    Finish,
    OnDraft,
    Timings,
)
from midfill_engine.core import Control

PATIENCE_S = 20.0
"""How long a test waits for something that should happen at once before it fails."""

NOISE = "░"
POLL_S = 0.002


@dataclass(frozen=True)
class Gate:
    """Holds a fill before a step (1-based) until opened. A fill that is cancelled there runs no further step."""

    before_step: int = 1
    opened: threading.Event = field(default_factory=threading.Event)

    def open(self) -> None:
        self.opened.set()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one fill gives. `error` is raised after the steps instead. `others`: candidates after the best. `spares`:
    texts beyond those that were asked for, with their confidence. `more`: texts of the best for the second of several
    holes and those after it; what is not said is as the one before."""

    text: str = "pass"
    others: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    spares: tuple[tuple[str, float], ...] = ()
    num_steps: int = 3
    finish: Finish = Finish.COMPLETE
    confidence: float = 0.5
    gate: Gate | None = None
    error: Exception | None = None

    def drafts(self, step: int, request: FillRequest) -> Iterator[Draft]:
        """After a step: one of each hole."""
        for hole, text in enumerate(self._texts(self.text, request)):
            yield replace(self.draft(step, text), hole=hole)

    def _texts(self, first: str, request: FillRequest) -> tuple[str, ...]:
        more = self.more or (first,)
        return (first, *(more[min(i, len(more) - 1)] for i in range(len(request.between))))

    def draft(self, step: int, text: str | None = None) -> Draft:
        """The words locked from the left, as many as the step's share of all steps; the rest noise."""
        pieces = re.findall(r"\s*\S+|\s+", self.text if text is None else text)
        num_locked = len(pieces) * step // self.num_steps
        locked = tuple(DraftToken(text=piece, is_locked=True) for piece in pieces[:num_locked])
        noise = tuple(DraftToken(text=NOISE * len(piece), is_locked=False) for piece in pieces[num_locked:])
        return Draft(step=step, tokens=locked + noise)

    def result(self, preset: str, request: FillRequest) -> FillResult:
        drafts = [self._texts(text, request) for text in (self.text, *self.others)]
        return FillResult(
            candidates=tuple(
                Candidate(text=texts[0], texts=texts, confidence=self.confidence) for texts in drafts if any(texts)
            ),
            spares=tuple(Candidate(text=text, confidence=confidence) for text, confidence in self.spares),
            finish=self.finish,
            num_steps=self.num_steps,
            num_tokens=len(self.text.split()),
            timings=Timings(encode=0.0, denoise=0.0, total=0.0),
            preset=preset,
        )


AnswerTo = Callable[[FillRequest], Answer]
"""An answer that is made from the request."""


def plainly(_request: FillRequest) -> Answer:
    """The default answer."""
    return Answer()


class Script:
    """A queue of answers with a default, safe to use from any thread."""

    def __init__(self, answers: Iterable[Answer | AnswerTo] = (), default: Answer | AnswerTo = plainly) -> None:
        self._answers = deque(answers)
        self._default = default

    def add(self, answer: Answer | AnswerTo) -> None:
        self._answers.append(answer)

    def take(self, request: FillRequest) -> Answer:
        answer = self._answers.popleft() if self._answers else self._default
        return answer if isinstance(answer, Answer) else answer(request)


class ScriptedCore:
    """A FillCore for the worker and the service. Counts its steps over all fills and keeps the requests."""

    def __init__(
        self, answers: Iterable[Answer | AnswerTo] = (), default: Answer | AnswerTo = plainly, preset: str = "scripted"
    ) -> None:
        self.script = Script(answers, default)
        self.requests: list[FillRequest] = []
        self.threads: set[int] = set()
        self._preset = preset
        self._changed = threading.Condition()
        self._num_steps = 0

    @property
    def preset(self) -> str:
        return self._preset

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def num_steps(self) -> int:
        """Steps begun so far, over all fills."""
        with self._changed:
            return self._num_steps

    def wait_for_steps(self, num_steps: int, timeout_s: float = PATIENCE_S) -> None:
        """Wait until that many steps have been begun over all fills, or fail."""
        with self._changed:
            reached = self._changed.wait_for(lambda: self._num_steps >= num_steps, timeout_s)
        assert reached, f"{self._num_steps} steps, waited for {num_steps}"

    def wait_for_requests(self, num_requests: int, timeout_s: float = PATIENCE_S) -> None:
        """Wait until that many fills have been begun, or fail."""
        with self._changed:
            reached = self._changed.wait_for(lambda: len(self.requests) >= num_requests, timeout_s)
        assert reached, f"{len(self.requests)} requests, waited for {num_requests}"

    def fill(self, request: FillRequest, control: Control) -> FillResult:
        self._begin(request)
        answer = self.script.take(request)
        for step in range(1, answer.num_steps + 1):
            if self._stopped_before(step, answer, control):
                return FillResult(candidates=(), finish=Finish.CANCELLED, num_steps=step - 1, preset=self._preset)
            self._step()
            if control.on_draft is not None:
                for draft in answer.drafts(step, request):
                    control.on_draft(draft)
        if answer.error is not None:
            raise answer.error
        return answer.result(self._preset, request)

    def _begin(self, request: FillRequest) -> None:
        with self._changed:
            self.requests.append(request)
            self.threads.add(threading.get_ident())
            self._changed.notify_all()

    def _step(self) -> None:
        with self._changed:
            self._num_steps += 1
            self._changed.notify_all()

    @staticmethod
    def _stopped_before(step: int, answer: Answer, control: Control) -> bool:
        gate = answer.gate
        if gate is not None and gate.before_step == step:
            while not gate.opened.wait(POLL_S):
                if control.is_cancelled():
                    return True
        return control.is_cancelled()


class ScriptedEngine:
    """An Engine for the language server and the command line. Keeps the requests; counts steps and cancelled fills.

    `state` and `message` may be set for what `status` tells.
    """

    def __init__(
        self, answers: Iterable[Answer | AnswerTo] = (), default: Answer | AnswerTo = plainly, preset: str = "scripted"
    ) -> None:
        self.script = Script(answers, default)
        self.requests: list[FillRequest] = []
        self.preset = preset
        self.state = EngineState.READY
        self.message = ""
        self.num_steps = 0
        self.num_cancelled = 0
        self.num_finished = 0
        self.is_closed = False

    async def fill(self, request: FillRequest, on_draft: OnDraft | None = None) -> FillResult:
        self.requests.append(request)
        answer = self.script.take(request)
        try:
            await self._denoise(answer, request, on_draft)
        except asyncio.CancelledError:
            self.num_cancelled += 1
            raise
        self.num_finished += 1
        if answer.error is not None:
            raise answer.error
        return answer.result(self.preset, request)

    async def status(self) -> EngineStatus:
        return EngineStatus(
            state=self.state,
            preset=self.preset,
            device="cpu",
            message=self.message,
            num_fills=self.num_finished,
            num_steps=self.num_steps,
        )

    async def aclose(self) -> None:
        self.is_closed = True

    async def wait_until(self, is_so: Callable[[ScriptedEngine], bool], timeout_s: float = PATIENCE_S) -> None:
        """Wait until something is true of this engine, say `lambda engine: engine.num_cancelled == 1`, or fail."""
        async with asyncio.timeout(timeout_s):
            while not is_so(self):  # noqa: ASYNC110 - the states are plain numbers, a test helper may look often
                await asyncio.sleep(POLL_S)

    async def _denoise(self, answer: Answer, request: FillRequest, on_draft: OnDraft | None) -> None:
        for step in range(1, answer.num_steps + 1):
            if answer.gate is not None and answer.gate.before_step == step:
                while not answer.gate.opened.is_set():  # noqa: ASYNC110 - a gate may be opened from another thread
                    await asyncio.sleep(POLL_S)
            await asyncio.sleep(0)
            self.num_steps += 1
            if on_draft is not None:
                for draft in answer.drafts(step, request):
                    on_draft(draft)
