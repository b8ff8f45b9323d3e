"""The engine in this very process: the model's worker behind the `Engine` Protocol.

Used by whoever wants no second process (a script, a benchmark) and by the engine process itself. What a model is
comes in through a `Load`; the usual one is imported when the model's thread first needs it, because it pulls in
torch.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from importlib import import_module
from typing import cast

from midfill_engine import __version__
from midfill_engine.api import EngineOptions, EngineStatus, FillRequest, FillResult, OnDraft
from midfill_engine.core import FillCore, Load, OnProgress
from midfill_engine.memory import bound_kept_products
from midfill_engine.presets import find_preset
from midfill_engine.worker import Worker


def load_filler(options: EngineOptions, on_progress: OnProgress) -> FillCore:
    """Load the preset's model. Imports torch, but not to say that there is no such preset."""
    find_preset(options.preset)
    # Read once, when torch is first imported. Threads that spin while they wait take the processor from whoever else
    # wants it, ourselves included: on busy cores a denoising step takes many times as long.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    bound_kept_products()
    on_progress(0.0, "importing the model library")
    load = cast(Load, import_module("midfill_engine.filler").load_filler)
    return load(options, on_progress)


class LocalEngine:
    """An Engine whose model lives in this process."""

    def __init__(self, options: EngineOptions, load: Load = load_filler) -> None:
        self._worker = Worker(options, load)

    async def fill(self, request: FillRequest, on_draft: OnDraft | None = None) -> FillResult:
        return await self._worker.fill(request, on_draft)

    async def load(self, on_progress: OnProgress | None = None) -> None:
        """Load the model now rather than at the first fill."""
        await self._worker.load(on_progress)

    async def status(self) -> EngineStatus:
        return replace(self._worker.status(), pid=os.getpid(), version=__version__, memory=_resident_bytes())

    async def aclose(self) -> None:
        """Stop what runs, answer who waits, and wait a while for the thread's end."""
        self._worker.close()
        await asyncio.to_thread(self._worker.join)


def _resident_bytes() -> int:
    psutil = import_module("psutil")  # late: a caller that never asks does not pay for it
    return int(psutil.Process().memory_info().rss)
