"""How a fill ended, from how its canvases did."""

from __future__ import annotations

from midfill_engine.api import Finish
from midfill_engine.denoise.loop import Ended

_FINISH = {Ended.DEADLINE: Finish.DEADLINE, Ended.STEPS: Finish.STEPS}


def finish_of(ended: Ended, *, is_empty: bool, is_open: bool = False) -> Finish:
    """`is_open`: the middle filled its slots without an end."""
    if ended is Ended.CANCELLED:
        return Finish.CANCELLED
    if is_empty:
        return Finish.EMPTY
    if is_open and ended is not Ended.DEADLINE:
        return Finish.LENGTH
    return _FINISH.get(ended, Finish.COMPLETE)
