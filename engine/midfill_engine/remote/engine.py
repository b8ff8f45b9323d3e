"""RemoteEngine: the `Engine` Protocol over somebody else's server.

Candidates are asked for side by side, the first as surely as the server can, further ones with some temperature. When
the deadline comes, what was said so far is read out. Cancelling closes the connections.
"""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING

from midfill_engine import __version__
from midfill_engine.api import (
    Candidate,
    Draft,
    DraftToken,
    EngineOptions,
    EngineState,
    EngineStatus,
    FillRequest,
    FillResult,
    Finish,
    Mode,
    OnDraft,
    Timings,
)
from midfill_engine.correct import sift
from midfill_engine.errors import EngineUnavailable
from midfill_engine.readout import read_out
from midfill_engine.remote.asking import Asker
from midfill_engine.remote.kinds import KINDS, Ask
from midfill_engine.remote.place import Place, open_client, place_of
from midfill_engine.shape import resolve_mode
from midfill_engine.syntax.gate import Gate

if TYPE_CHECKING:
    import httpx2

FURTHER_TEMPERATURE = 0.8
UNKNOWN_CONFIDENCE = 0.5
STATUS_PATIENCE_S = 5.0


@dataclass
class _Said:
    """An answer as it comes in."""

    text: str = ""
    log_probs: list[float] = field(default_factory=list)
    num_pieces: int = 0
    is_cut_off: bool = False
    is_late: bool = False

    @property
    def confidence(self) -> float:
        if not self.log_probs:
            return UNKNOWN_CONFIDENCE
        return min(1.0, math.exp(sum(self.log_probs) / len(self.log_probs)))


class RemoteEngine:
    """Belongs to one event loop."""

    def __init__(self, options: EngineOptions, place: Place | None = None) -> None:
        self._options = options
        self._place = place or place_of(options)
        self._kind = KINDS[self._place.kind]
        self._asker = Asker(self._place)
        self._http: httpx2.AsyncClient | None = None
        self._num_fills = 0
        self._last_fill_s = 0.0

    async def fill(self, request: FillRequest, on_draft: OnDraft | None = None) -> FillResult:
        began = time.perf_counter()
        result = await (self._fill_each(request, on_draft) if request.between else self._fill_hole(request, on_draft))
        self._num_fills += 1
        self._last_fill_s = time.perf_counter() - began
        return replace(result, timings=Timings(denoise=self._last_fill_s, total=self._last_fill_s))

    async def status(self) -> EngineStatus:
        """READY if the server answers at all: what it answers to a stranger's question says little."""
        try:
            await self._client.get(self._place.path("/v1/models"), timeout=STATUS_PATIENCE_S)
        except import_module("httpx2").TransportError as error:
            reason = str(error) or type(error).__name__
            raise EngineUnavailable(f"{self._place.host} cannot be reached ({reason})") from None
        return EngineStatus(
            state=EngineState.READY,
            preset=self._options.preset,
            device=self._place.host,
            message=f"{self._place.kind} at {self._place.url}",
            version=__version__,
            num_fills=self._num_fills,
            last_fill_s=self._last_fill_s,
        )

    async def aclose(self) -> None:
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    @property
    def _client(self) -> httpx2.AsyncClient:
        if self._http is None:
            self._http = open_client(self._place)
        return self._http

    async def _fill_each(self, request: FillRequest, on_draft: OnDraft | None) -> FillResult:
        """Several holes, one after the other, each with those before it filled; one candidate of all."""
        texts: list[str] = []
        prefix, holes = request.prefix, [*request.between, request.suffix]
        result = FillResult(candidates=(), finish=Finish.EMPTY)
        for at, after in enumerate(holes):
            suffix = "".join([after, *holes[at + 1 :]])
            hole = replace(request, prefix=prefix, suffix=suffix, between=(), num_candidates=1)
            result = await self._fill_hole(hole, _of_hole(on_draft, at))
            texts.append(result.text)
            prefix += result.text + after
        if not any(texts):
            return replace(result, candidates=(), finish=Finish.EMPTY)
        confidence = result.candidates[0].confidence if result.candidates else UNKNOWN_CONFIDENCE
        return replace(result, candidates=(Candidate(text=texts[0], texts=tuple(texts), confidence=confidence),))

    async def _fill_hole(self, request: FillRequest, on_draft: OnDraft | None) -> FillResult:
        mode = resolve_mode(request.mode, request.prefix, request.suffix)
        tasks = [
            asyncio.ensure_future(self._hear(self._ask(request, mode, at), on_draft if at == 0 else None))
            for at in range(request.num_candidates)
        ]
        try:
            answers = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        candidates = self._candidates(request, mode, answers)
        return FillResult(
            candidates=candidates,
            finish=_finish(answers[0], is_empty=not candidates),
            num_tokens=answers[0].num_pieces if candidates else 0,
            preset=self._options.preset,
        )

    def _ask(self, request: FillRequest, mode: Mode, at: int) -> Ask:
        temperature = request.temperature if at == 0 else request.temperature or FURTHER_TEMPERATURE
        return Ask(request=request, mode=mode, seed=(request.seed + at) % 2**31, temperature=temperature)

    async def _hear(self, ask: Ask, on_draft: OnDraft | None) -> _Said:
        said = _Said()
        try:
            async with asyncio.timeout(ask.request.limits.deadline_s):
                await self._listen(said, ask, on_draft)
        except TimeoutError:
            said.is_late = True
        return said

    async def _listen(self, said: _Said, ask: Ask, on_draft: OnDraft | None) -> None:
        async with aclosing(self._asker.pieces(self._client, ask)) as pieces:
            async for piece in pieces:
                said.text += piece.text
                said.log_probs += piece.log_probs
                said.is_cut_off |= piece.is_cut_off
                said.num_pieces += bool(piece.text)
                if on_draft is not None and piece.text:
                    tokens = (DraftToken(text=self._kind.middle(said.text), is_locked=True),)
                    on_draft(Draft(step=said.num_pieces, tokens=tokens))
                if ask.mode is Mode.LINE and "\n" in self._kind.middle(said.text).lstrip():
                    return  # the line is there: who reads no further has the server stop

    def _candidates(self, request: FillRequest, mode: Mode, answers: list[_Said]) -> tuple[Candidate, ...]:
        found: dict[str, Candidate] = {}
        for said in answers:
            text = read_out(self._kind.middle(said.text), mode, request.prefix, request.suffix)
            if text:
                found.setdefault(text, Candidate(text=text, confidence=said.confidence))
        if not found:
            return ()
        gate = Gate(request.prefix, request.suffix, request.language)
        sifted = sift([*found.values()], lambda candidate: candidate.text, gate, request.num_candidates)
        return tuple(sifted.good + sifted.bad * (request.num_candidates > 1))


def _of_hole(on_draft: OnDraft | None, hole: int) -> OnDraft | None:
    if on_draft is None:
        return None
    watch = on_draft
    return lambda draft: watch(replace(draft, hole=hole))


def _finish(said: _Said, *, is_empty: bool) -> Finish:
    if said.is_late:
        return Finish.DEADLINE
    if is_empty:
        return Finish.EMPTY
    return Finish.LENGTH if said.is_cut_off else Finish.COMPLETE
