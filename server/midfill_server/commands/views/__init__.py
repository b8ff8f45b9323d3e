"""What a person sees on stderr while a fill is made: one file per view.

A view is told the engine's status while the model is being loaded (only once that has taken a moment), each draft, and
the result. stdout is not its business.
"""

from __future__ import annotations

import sys
from typing import Protocol

from midfill_engine.api import Draft, EngineStatus, FillResult
from midfill_server.commands.hole import Hole


class View(Protocol):
    """`wants_drafts` False: nobody need make drafts for it. `close` leaves the terminal as it was found."""

    @property
    def wants_drafts(self) -> bool: ...

    def on_status(self, status: EngineStatus) -> None: ...

    def on_draft(self, draft: Draft) -> None: ...

    def on_result(self, result: FillResult) -> None: ...

    def close(self) -> None: ...


class QuietView:
    """Shows nothing."""

    wants_drafts = False

    def on_status(self, status: EngineStatus) -> None:
        return

    def on_draft(self, draft: Draft) -> None:
        return

    def on_result(self, result: FillResult) -> None:
        return

    def close(self) -> None:
        return


def choose_watching_view(hole: Hole) -> View:
    """How a block that develops is shown on stderr. Imports rich only for a terminal."""
    if not _is_terminal():
        from midfill_server.commands.views.plain import PlainView

        return PlainView()
    from rich.console import Console

    from midfill_server.commands.views.live import LiveView

    return LiveView(hole, Console(stderr=True))


def choose_loading_view() -> View:
    """How stderr tells that a model is being loaded: not at all unless a person looks."""
    if not _is_terminal():
        return QuietView()
    from rich.console import Console

    from midfill_server.commands.views.loading import LoadingView

    return LoadingView(Console(stderr=True))


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
