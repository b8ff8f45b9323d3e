"""Fills all holes of a request on one canvas. A hole of which a token is cut is not healed here."""

from __future__ import annotations

import time

from midfill_engine.api import Candidate, FillRequest, FillResult, Timings
from midfill_engine.canvases import EXPLORE, Canvases, seeds_of
from midfill_engine.core import Control
from midfill_engine.denoise.length import EachLength
from midfill_engine.denoise.loop import Ended, Row
from midfill_engine.drafts import DraftMaker
from midfill_engine.ending import finish_of
from midfill_engine.heal import Healing
from midfill_engine.readout import read_out
from midfill_engine.several import of_hole
from midfill_engine.together import DraftsOfEach, Layout, candidate_of, lay_out, read_each


def fill_together(request: FillRequest, canvases: Canvases, control: Control, began: float) -> FillResult:
    """The fill; `began`: when it was asked for, by the clock of `time.perf_counter`."""
    prompt = canvases.prompt(request, Healing())
    layout = lay_out(request, prompt.tail, prompt.head, canvases.sizes, canvases.codec)
    encoded = canvases.model.encode(prompt.encoded)
    encode_s = time.perf_counter() - began
    length = layout.length(canvases.length)
    rows = _denoised(request, layout, length, canvases, control)
    found = _candidates(request, rows, layout, length, canvases)
    total = time.perf_counter() - began
    return FillResult(
        candidates=found,
        finish=finish_of(rows[0].ended, is_empty=not found),
        num_steps=max(row.num_steps for row in rows),
        num_tokens=sum(map(len, length.cut_each(rows[0].tokens))) if found else 0,
        num_prompt=encoded.num_tokens,
        num_cached=encoded.num_cached,
        timings=Timings(encode=encode_s, denoise=total - encode_s, total=total),
        preset=canvases.preset.name,
    )


def _denoised(
    request: FillRequest, layout: Layout, length: EachLength, canvases: Canvases, control: Control
) -> list[Row]:
    seeds, schedule = seeds_of(request), canvases.schedule(request)
    if schedule.is_greedy and request.temperature is None and len(seeds) > 1:
        schedule = EXPLORE
    max_steps = request.limits.max_steps or canvases.preset.max_steps
    policy = canvases.policy(length, canvases.banned, max_steps, schedule)
    slots = layout.slots.to(canvases.model.device)
    return canvases.run(layout.ids, slots, policy, seeds, control, _watcher(layout, canvases, control))


def _watcher(layout: Layout, canvases: Canvases, control: Control) -> DraftsOfEach | None:
    if control.on_draft is None:
        return None
    makers = [
        DraftMaker(canvases.codec, canvases.length(mode), Healing(), of_hole(control.on_draft, hole, 0))
        for hole, mode in enumerate(layout.modes)
    ]
    return DraftsOfEach(layout.sizes, makers)


def _candidates(
    request: FillRequest, rows: list[Row], layout: Layout, length: EachLength, canvases: Canvases
) -> tuple[Candidate, ...]:
    """Each text but once; nothing of a fill that was cancelled."""
    if any(row.ended is Ended.CANCELLED for row in rows):
        return ()
    found: dict[tuple[str, ...], Candidate] = {}
    for row in rows:
        said = [canvases.codec.text_of(part) for part in length.cut_each(row.tokens)]
        texts = read_each(request, layout.modes, said, read_out)
        if any(texts):
            found.setdefault(texts, candidate_of(texts, row.log_probs))
    return tuple(found.values())
