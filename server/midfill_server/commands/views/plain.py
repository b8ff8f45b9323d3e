"""Drafts where no terminal is: one line each on stderr."""

from __future__ import annotations

import sys

from midfill_engine.api import Draft, EngineStatus, FillResult


class PlainView:
    """A line per draft, its text quoted so that it stays one line."""

    wants_drafts = True

    def on_status(self, status: EngineStatus) -> None:
        return

    def on_draft(self, draft: Draft) -> None:
        num_locked = sum(token.is_locked for token in draft.tokens)
        _tell(f"step {draft.step}: {num_locked} of {len(draft.tokens)} tokens locked: {draft.text!r}")

    def on_result(self, result: FillResult) -> None:
        _tell(f"finish: {result.finish}, {result.num_steps} steps")

    def close(self) -> None:
        return


def _tell(line: str) -> None:
    if sys.stderr is not None:
        print(line.encode("utf-8", "backslashreplace").decode(), file=sys.stderr, flush=True)
