"""The block developing step by step in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.live import Live

from midfill_engine.api import Draft, EngineStatus, FillResult
from midfill_server.commands.hole import Hole
from midfill_server.commands.views.frame import draft_frame, result_frame
from midfill_server.commands.views.loading import LoadingView


class LiveView:
    """Redraws one picture per draft and leaves the last one, the finished block, in place."""

    wants_drafts = True

    def __init__(self, hole: Hole, console: Console) -> None:
        self._hole = hole
        self._loading = LoadingView(console)
        self._live = Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)

    def on_status(self, status: EngineStatus) -> None:
        if not self._live.is_started:
            self._loading.on_status(status)

    def on_draft(self, draft: Draft) -> None:
        self._start()
        self._live.update(draft_frame(self._hole, draft), refresh=True)

    def on_result(self, result: FillResult) -> None:
        self._start()
        self._live.update(result_frame(self._hole, result), refresh=True)

    def close(self) -> None:
        self._loading.close()
        self._live.stop()

    def _start(self) -> None:
        self._loading.close()
        if not self._live.is_started:
            self._live.start()
