"""One thread owns a model and serves everybody's fills, one at a time.

    fill()  ── Job ──▶ Turns (policy) ──▶ the owner thread: load once, then core.fill(request, control) per job
      ▲                                        │
      └── drafts and the result, posted to the caller's event loop ◀──┘

Knows neither models (only `FillCore` and `Load`) nor sockets. The model is loaded in the owner thread, at the first
fill or at `load`; a failure is remembered and answered to everybody for `retry_after_s`, after which the next request
tries again, so that a user who has freed memory or fetched weights need not restart anything.

Who fills `Timings`: the core `encode` and `denoise`; the worker `load` (the part of the wait in which the model was
being loaded), `queue` (the rest of the wait) and `total` (arrival to result).
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from dataclasses import replace

from midfill_engine import failures
from midfill_engine.api import (
    EngineError,
    EngineOptions,
    EngineState,
    EngineStatus,
    FillRequest,
    FillResult,
    Finish,
    OnDraft,
)
from midfill_engine.core import FillCore, Load, OnProgress
from midfill_engine.jobs import Job, LoadWatch
from midfill_engine.turns import Turns

logger = logging.getLogger(__name__)

RETRY_AFTER_S = 3.0
CLOSE_PATIENCE_S = 5.0


class Worker:
    """The owner of a model. Every method may be called from any thread or loop."""

    def __init__(self, options: EngineOptions, load: Load, retry_after_s: float = RETRY_AFTER_S) -> None:
        self._options = options
        self._load_core = load
        self._retry_after_s = retry_after_s
        # Guards everything below; never held while the model works.
        self._changed = threading.Condition()
        self._turns: Turns[Job] = Turns()
        self._watches: list[LoadWatch] = []
        self._running: Job | None = None
        self._core: FillCore | None = None
        self._failure: EngineError | None = None
        self._failed_at = 0.0
        self._is_loading = False
        self._loaded_from = self._loaded_to = 0.0
        self._progress = 0.0
        self._message = ""
        self._is_closing = False
        self._last_use = time.monotonic()
        self._num_fills = self._num_steps = 0
        self._last_fill_s = 0.0
        self._thread: threading.Thread | None = None

    async def fill(self, request: FillRequest, on_draft: OnDraft | None = None) -> FillResult:
        """Queue, wait and answer. Cancelling the awaiting task stops the fill before its next step."""
        job = Job(request, asyncio.get_running_loop(), on_draft)
        self._submit(job)
        timer = None
        if job.deadline is not None:
            timer = job.loop.call_later(max(0.0, job.deadline - time.monotonic()), self._expire, job)
        try:
            return await job.future
        except asyncio.CancelledError:
            self._abandon(job)
            raise
        finally:
            if timer is not None:
                timer.cancel()

    async def load(self, on_progress: OnProgress | None = None) -> None:
        """Have the model loaded, now rather than at the first fill. Raises what hinders it."""
        watch = LoadWatch(asyncio.get_running_loop(), on_progress)
        with self._changed:
            self._refuse_if_useless()
            if self._core is not None:
                return
            self._watches.append(watch)
            if self._is_loading:
                watch.tell(self._progress, self._message)
            self._wake()
        await watch.future

    def status(self) -> EngineStatus:
        """What the worker is doing; `pid`, `version` and `memory` are the caller's to fill."""
        with self._changed:
            is_idle = self._running is None and not self._turns and not self._is_loading
            return EngineStatus(
                state=self._state(),
                preset=self._core.preset if self._core else self._options.preset,
                device=self._core.device if self._core else "",
                message=self._message,
                progress=self._progress,
                idle_s=time.monotonic() - self._last_use if is_idle else 0.0,
                num_fills=self._num_fills,
                num_steps=self._num_steps,
                last_fill_s=self._last_fill_s,
            )

    def close(self) -> None:
        """Answer everybody that the engine ends and let the thread run out. Returns at once."""
        with self._changed:
            self._is_closing = True
            for job in self._turns.drain():
                job.fail(failures.stopped())
            self._fail_watches(failures.stopped())
            if self._running is not None:
                # A model that is being loaded cannot be interrupted, a fill can: before its next step.
                self._running.stop_for_closing()
            self._changed.notify_all()

    def join(self, timeout_s: float = CLOSE_PATIENCE_S) -> bool:
        """Wait for the thread's end after `close`; False: it is still held up in the model.

        A fill is waited for, because it ends with its step; a load is not, because it may take minutes.
        """
        thread = self._thread
        if thread is None:
            return True
        if self._is_loading:
            return False
        thread.join(timeout_s)
        return not thread.is_alive()

    # --- callers' side; `_changed` is held where a name says so --------------------------------------------------

    def _submit(self, job: Job) -> None:
        with self._changed:
            self._refuse_if_useless()
            overtaken = self._turns.add(job.topic, job)
            if overtaken is not None:
                overtaken.end(Finish.SUPERSEDED)
            if self._running is not None and self._running.topic.is_overtaken_by(job.topic):
                self._running.stop(Finish.SUPERSEDED)
            self._last_use = time.monotonic()
            self._wake()

    def _abandon(self, job: Job) -> None:
        with self._changed:
            if not self._turns.remove(job):
                job.stop(Finish.CANCELLED)

    def _expire(self, job: Job) -> None:
        # Only one that still waits: a running fill looks at its deadline itself and reads out what it has.
        with self._changed:
            if self._turns.remove(job):
                job.end(Finish.DEADLINE)

    def _refuse_if_useless(self) -> None:
        if self._is_closing:
            raise failures.stopped()
        if self._failure is not None:
            if time.monotonic() - self._failed_at < self._retry_after_s:
                raise failures.again(self._failure)
            self._failure = None

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="midfill-model", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _state(self) -> EngineState:
        if self._failure is not None:
            return EngineState.FAILED
        if self._core is None:
            return EngineState.LOADING
        return EngineState.BUSY if self._running is not None or self._turns else EngineState.READY

    def _fail_watches(self, error: EngineError) -> None:
        for watch in self._watches:
            watch.fail(failures.again(error))
        self._watches.clear()

    # --- the owner thread ----------------------------------------------------------------------------------------

    def _run(self) -> None:
        while self._wait_for_work():
            if self._core is None and not self._load():
                continue
            job = self._take()
            if job is not None:
                self._serve(job, self._core)
        # The thread that made the tensors is the one that lets go of them.
        with self._changed:
            self._core = None

    def _wait_for_work(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._is_closing or self._turns or self._watches)
            return not self._is_closing

    def _take(self) -> Job | None:
        with self._changed:
            self._running = self._turns.take()
            return self._running

    def _load(self) -> bool:
        with self._changed:
            self._is_loading, self._progress, self._message = True, 0.0, ""
            self._loaded_from = time.monotonic()
        try:
            core = self._load_core(self._options, self._tell_progress)
        except Exception as error:
            self._remember(failures.of_load(error))
            return False
        with self._changed:
            self._core, self._is_loading, self._progress, self._message = core, False, 1.0, ""
            self._loaded_to = self._last_use = time.monotonic()
            for watch in self._watches:
                watch.succeed()
            self._watches.clear()
        logger.info("loaded preset %s on %s in %.1f s", core.preset, core.device, self._loaded_to - self._loaded_from)
        return True

    def _tell_progress(self, share: float, message: str) -> None:
        with self._changed:
            self._progress, self._message = share, message
            for watch in self._watches:
                watch.tell(share, message)

    def _remember(self, failure: EngineError) -> None:
        logger.error("the model was not loaded: %s", failure)
        with self._changed:
            self._failure, self._failed_at = failure, time.monotonic()
            self._is_loading, self._message = False, str(failure)
            self._last_use = time.monotonic()
            for job in self._turns.drain():
                job.fail(failures.again(failure))
            self._fail_watches(failure)

    def _serve(self, job: Job, core: FillCore | None) -> None:
        assert core is not None
        started = time.monotonic()
        try:
            result = core.fill(job.request, job.control())
        except Exception as error:
            self._done(num_steps=0)
            job.fail(failures.of_fill(error, job.request.request_id))
        else:
            result = self._with_timings(job, result, started)
            self._done(num_steps=result.num_steps, took_s=result.timings.total)
            job.succeed(result)

    def _done(self, num_steps: int, took_s: float = 0.0) -> None:
        with self._changed:
            self._running = None
            self._num_fills += 1
            self._num_steps += num_steps
            self._last_fill_s = took_s
            self._last_use = time.monotonic()

    def _with_timings(self, job: Job, result: FillResult, started: float) -> FillResult:
        load_s = max(0.0, self._loaded_to - max(job.arrived, self._loaded_from))
        timings = replace(
            result.timings,
            load=load_s,
            queue=max(0.0, started - job.arrived - load_s),
            total=time.monotonic() - job.arrived,
        )
        return replace(result, timings=timings)
