"""When memory runs short: half the context and half the canvas, twice at most, and it is said once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

import torch

from midfill_engine.api import FillResult
from midfill_engine.errors import ResourceError

MAX_HALVINGS = 2
SHORT_OF_MEMORY = "memory is short: from now on the model sees less of the text; close other programs and restart it"

logger = logging.getLogger(__name__)


class Thrift:
    """How often sizes have been halved: kept, so that not every fill runs out of memory anew."""

    def __init__(self) -> None:
        self._num_halvings = 0

    def spared(self, size: int) -> int:
        """What is left of a size."""
        return size >> self._num_halvings

    def fill(self, fill: Callable[[], FillResult], forget: Callable[[], None]) -> FillResult:
        """The fill, with less if need be. `forget` frees what the model has kept. Raises ResourceError."""
        note = ""
        while True:
            result = _if_it_fits(fill)
            if result is not None:
                return replace(result, note=note)
            forget()  # only here, where the failed try's tensors are gone with its frames
            self._halve()
            note = SHORT_OF_MEMORY

    def _halve(self) -> None:
        if self._num_halvings == MAX_HALVINGS:
            raise ResourceError("not enough memory for this fill: ask for less context or fewer candidates")
        self._num_halvings += 1
        logger.warning("out of memory: context and canvas halved (%d of %d)", self._num_halvings, MAX_HALVINGS)


def _if_it_fits(fill: Callable[[], FillResult]) -> FillResult | None:
    try:
        return fill()
    except (MemoryError, torch.OutOfMemoryError):
        return None
