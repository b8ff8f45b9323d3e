"""What a person sees: the developing block, the loading of a model, and nothing where nobody looks."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from midfill_engine.api import Candidate, Draft, DraftToken, EngineState, EngineStatus, FillResult, Finish
from midfill_server.commands.hole import Hole
from midfill_server.commands.views import QuietView, choose_loading_view, choose_watching_view
from midfill_server.commands.views.frame import LOCKED, NOISE, SURROUNDING, draft_frame, result_frame
from midfill_server.commands.views.live import LiveView
from midfill_server.commands.views.loading import LoadingView
from midfill_server.commands.views.plain import PlainView
from support.scripted import Answer, ScriptedEngine

from .conftest import Command

HOLE = Hole(prefix="0\n1\n2\n3\n4\n5\n6\nx = ", suffix="\ny\n")
DRAFT = Draft(step=2, tokens=(DraftToken(text="a ", is_locked=True), DraftToken(text="░", is_locked=False)))
RESULT = FillResult(candidates=(Candidate(text="a + b", confidence=0.5),), finish=Finish.COMPLETE, num_steps=3)
LOADING = EngineStatus(state=EngineState.LOADING, preset="pocket", message="weights", progress=0.5)


def test_a_frame_has_the_block_between_dim_lines() -> None:
    picture = draft_frame(HOLE, DRAFT)
    assert picture.plain == "2\n3\n4\n5\n6\nx = a ░\ny\nstep 2 · 1 of 2 tokens locked"
    styled = [(picture.plain[span.start : span.end], span.style) for span in picture.spans]
    assert styled[0][1] == styled[3][1] == SURROUNDING
    assert styled[1:3] == [("a ", LOCKED), ("░", NOISE)]


def test_the_last_frame_has_the_result() -> None:
    assert "x = a + b\ny\ncomplete · 3 steps" in result_frame(HOLE, RESULT).plain


def test_nothing_in_a_text_drives_the_terminal() -> None:
    """A draft is noise at first, and noise may be an escape sequence."""
    noise = Draft(step=1, tokens=(DraftToken(text="\x1b[2J\x9b\x07\ta\r\nb\rc", is_locked=False),))
    assert draft_frame(Hole(prefix="\x1b", suffix=""), noise).plain.startswith("··[2J··\ta\nb\nc")


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=80, height=40)


def told(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_live_view_loads_develops_and_leaves_the_result() -> None:
    console = terminal()
    view = LiveView(HOLE, console)
    view.on_status(LOADING)
    view.on_draft(DRAFT)
    view.on_status(LOADING)  # too late to be shown
    view.on_result(RESULT)
    view.close()
    assert "loading pocket: weights" in told(console)
    assert told(console).rindex("complete · 3 steps") > told(console).index("step 2")
    assert told(console).endswith("\x1b[?25h")  # the cursor is back


def test_a_view_that_showed_nothing_leaves_nothing() -> None:
    console = terminal()
    for view in (LoadingView(console), LiveView(HOLE, console)):
        view.close()
    assert told(console) == ""


def test_the_loading_view_goes_when_the_result_comes() -> None:
    console = terminal()
    view = LoadingView(console)
    view.on_status(LOADING)
    view.on_status(EngineStatus(state=EngineState.LOADING, preset="pocket"))
    view.on_result(RESULT)
    view.close()
    assert "loading pocket: weights" in told(console)
    assert told(console).endswith("\x1b[2K")  # the line is wiped


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_is_shown_hangs_on_who_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(choose_loading_view(), QuietView)
    assert isinstance(choose_watching_view(HOLE), PlainView)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(choose_loading_view(), LoadingView)
    assert isinstance(choose_watching_view(HOLE), LiveView)


def test_watching_without_a_terminal_is_a_line_per_draft(fill: Command, path: Path) -> None:
    outcome = fill(path, "--at", "2:12", "--watch", engine=ScriptedEngine([Answer(text="a\n+ b")]))
    assert outcome.out == b"a\n+ b"
    lines = outcome.err.splitlines()
    assert [line.split(":")[0] for line in lines[:-1]] == ["step 1", "step 2", "step 3"]
    assert lines[2] == r"step 3: 3 of 3 tokens locked: 'a\n+ b'"
    assert lines[3] == "finish: complete, 3 steps"


def test_who_does_not_watch_gets_no_drafts(fill: Command, path: Path) -> None:
    class Unwatched(ScriptedEngine):
        async def fill(self, request, on_draft=None):  # type: ignore[no-untyped-def]
            assert on_draft is None
            return await super().fill(request, on_draft)

    assert fill(path, "--at", "2:12", engine=Unwatched()).code == 0


def test_watching_in_a_real_terminal(path: Path) -> None:
    """stderr is a terminal, stdout a pipe: the block develops on the one, the result goes to the other."""
    outer, inner = pty.openpty()
    script = Path(__file__).with_name("scripted_fill.py")
    process = subprocess.run(
        [sys.executable, str(script), "fill", str(path), "--at", "2:12", "--watch"],
        stdout=subprocess.PIPE,
        stderr=inner,
        env={**os.environ, "TERM": "xterm-256color"},
        timeout=60,
        check=True,
    )
    os.close(inner)
    shown = os.read(outer, 2**16).decode()
    os.close(outer)
    assert process.stdout == b"a + b"
    assert "step 8" in shown
    assert "print(add(1, 2))" in shown
