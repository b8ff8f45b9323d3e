"""Two Neovims with the shipped model, nothing scripted. What the model says is not looked at, only that it says it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from editors.neovim.conftest import nvim_at
from editors.neovim.driver import USUAL_KEYS, Nvim

PATIENCE_S = 90.0
MIDFILL = [sys.executable, "-m", "midfill_server"]
CODE = "import os\n\nfor name in os.listdir('.'):\n    print(name)\n\n"


def engines(home: Path) -> list[psutil.Process]:
    """The engines of a home: processes that know it and have loaded a model."""
    return [process for process in psutil.process_iter() if _is_engine(process, str(home / "run"))]


def _is_engine(process: psutil.Process, runtime: str) -> bool:
    try:
        command = " ".join(process.cmdline())
        return "midfill_engine" in command and process.environ().get("XDG_RUNTIME_DIR") == runtime
    except psutil.Error:
        return False


@pytest.fixture
def two(home: Path) -> Iterator[tuple[Nvim, Nvim]]:
    settings = {"deadlineMs": 20_000}
    options = {**USUAL_KEYS, "settings": settings}
    first = Nvim.start(nvim_at("0.12"), home, command=MIDFILL, options=options, name="first")
    second = Nvim.start(nvim_at("0.11"), home, command=MIDFILL, options=options, name="second")
    with first as one, second as other:
        yield one, other
    for engine in engines(home):
        engine.kill()


def check_suggests(nvim: Nvim) -> None:
    """Type lines until something is suggested for one: the model may have nothing to say."""

    def is_suggested_for_another_line() -> bool:
        nvim.keys("<Esc>ovalue = len(")
        return bool(nvim.lua("return vim.wait(3000, require('midfill').is_shown, 20)"))

    nvim.until(is_suggested_for_another_line, "a suggestion", patience_s=PATIENCE_S)
    assert nvim.shown
    nvim.keys("<Tab><Esc>")
    nvim.until(lambda: not nvim.lines[-1].endswith("len("), "accepted text", lambda: nvim.text)


def test_two_neovims_share_one_engine_and_outlive_it(two: tuple[Nvim, Nvim], home: Path) -> None:
    """A model was loaded once per window. And it is killed meanwhile: no message, and suggestions come again."""
    for number, nvim in enumerate(two):
        nvim.edit(f"{number}.py", CODE)
    for nvim in two:
        check_suggests(nvim)
    (engine,) = engines(home)
    engine.kill()
    psutil.wait_procs([engine], timeout=1)
    check_suggests(two[0])
    assert [process.pid for process in engines(home)] != [engine.pid]
    assert [nvim.messages for nvim in two] == ["", ""]
    left = two[0].quit()
    assert [pid for pid in left if pid not in [process.pid for process in engines(home)]] == []
