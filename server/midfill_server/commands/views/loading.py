"""Tells a person at a terminal that a model is being loaded, and takes that away again when it is."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from midfill_engine.api import Draft, EngineStatus, FillResult


class LoadingView:
    """A bar that is gone once the fill begins."""

    wants_drafts = False

    def __init__(self, console: Console) -> None:
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self._progress = Progress(
            *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self._task = self._progress.add_task("", total=1.0)
        self._is_shown = False

    def on_status(self, status: EngineStatus) -> None:
        what = f"loading {status.preset}" + (f": {status.message}" if status.message else "")
        # Nothing known of how far it is: the bar pulses instead of standing at zero.
        total = 1.0 if status.progress > 0 else None
        self._progress.update(self._task, description=what, completed=status.progress, total=total)
        if not self._is_shown:
            self._progress.start()
            self._is_shown = True

    def on_draft(self, draft: Draft) -> None:
        return

    def on_result(self, result: FillResult) -> None:
        self.close()

    def close(self) -> None:
        if self._is_shown:
            self._progress.stop()
            self._is_shown = False
