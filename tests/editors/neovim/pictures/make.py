"""Makes the Neovim pictures of docs/images from a real Neovim in a terminal (tmux), with the shipped model.

    python tests/editors/neovim/pictures/make.py NVIM

Nothing is chosen: what the model says first is what is shown.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from terminal_svg import Frame, animation, still

ROOT = Path(__file__).parents[4]
IMAGES = ROOT / "docs/images"
COLUMNS, ROWS = 84, 16
PATIENCE_S = 120.0
POLL_S = 0.02
SLOWDOWN = 3.0
REST_S = 3.0
THOUGHT_S = 3.0
OPEN = "38;2;79;82;88m"  # the colour of what is not decided

CODE = """class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        {line}
        self.history = []

    def deposit(self, amount):
        self.balance += amount
"""
INIT = """
vim.opt.runtimepath:prepend([[{plugin}]])
vim.o.termguicolors, vim.o.showmode, vim.o.ruler, vim.o.swapfile, vim.o.laststatus = true, false, false, false, 2
vim.o.statusline = " %f%=%{{v:lua.require'midfill'.statusline()}} "
require('midfill').setup({{
  cmd = {{ [[{python}]], '-m', 'midfill_server' }}, keymaps = true, settings = {{ deadlineMs = 60000 }},
}})
"""


class Screen:
    """A terminal that nobody sits at."""

    def __init__(self, socket: Path) -> None:
        self._tmux = ["tmux", "-S", str(socket)]

    def open(self, command: str) -> None:
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        self._run("-f", os.devnull, "new-session", "-d", *size, command, ";", "set", "status", "off")

    def keys(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    def seen(self) -> str:
        return self._run("capture-pane", "-e", "-p")

    def close(self) -> None:
        self._run("kill-server")

    def _run(self, *words: str) -> str:
        return subprocess.run([*self._tmux, *words], check=True, capture_output=True, text=True).stdout

    def until(self, is_so: Callable[[str], bool], what: str) -> str:
        """Wait for a screen; give it."""
        deadline = time.monotonic() + PATIENCE_S
        while not is_so(seen := self.seen()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited for {what}; there is\n{seen}")
            time.sleep(POLL_S)
        return seen


@contextmanager
def neovim(program: str, line: str) -> Iterator[Screen]:
    """With a file open and the model loaded."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "account.py").write_text(CODE.format(line=line))
        (home / "init.lua").write_text(INIT.format(plugin=ROOT / "editors/neovim", python=sys.executable))
        (home / "run").mkdir(mode=0o700)
        names = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")
        variables = " ".join(f"{name}={home / 'run'}" for name in names)
        screen = Screen(home / "tmux")
        screen.open(f"cd {home} && {variables} {program} -n -u init.lua +4 account.py")
        try:
            screen.until(lambda seen: "midfill: loading" in seen, "the server")
            screen.until(lambda seen: "midfill: pocket" in seen, "the model")
            yield screen
        finally:
            screen.close()
            stop = [sys.executable, "-m", "midfill_server", "engine", "stop"]
            subprocess.run(stop, env={**os.environ, "XDG_RUNTIME_DIR": str(home / "run")}, capture_output=True)


def ghost_text(program: str) -> None:
    with neovim(program, "") as screen:
        screen.keys("A")
        for key in "self.balance = balance":
            screen.keys(key)
            time.sleep(THOUGHT_S)
            if " ms" in screen.seen():  # the status line tells how long a suggestion took
                break
        seen = Frame(screen=screen.until(lambda seen: " ms" in seen, "ghost text"), at_s=0)
        (IMAGES / "neovim-ghost-text.svg").write_text(still(seen, COLUMNS, ROWS))


def development(program: str) -> None:
    """Line 4 replaced, as it is seen from the command to the end."""
    with neovim(program, "self.total = balance + 1") as screen:
        screen.keys(":4Midfill fill")
        frames = [Frame(screen=screen.until(lambda seen: ":4Midfill fill" in seen, "the command"), at_s=-1 / SLOWDOWN)]
        screen.keys("Enter")
        begun, changed = time.monotonic(), time.monotonic()
        while time.monotonic() - changed < REST_S or len(frames) < 4 or OPEN in frames[-1].screen.split("\n")[3]:
            seen, now = screen.seen(), time.monotonic()
            if seen != frames[-1].screen:
                frames.append(Frame(screen=seen, at_s=now - begun))
                changed = now
            if now - begun > PATIENCE_S:
                raise TimeoutError(f"no draft was seen; there is\n{seen}")
        told = animation(frames, COLUMNS, ROWS, slowdown=SLOWDOWN, rest_s=REST_S)
        (IMAGES / "neovim-draft.svg").write_text(told)
        print(f"{len(frames)} frames in {frames[-1].at_s:.2f} s, {len(told) // 1024} kB")


if __name__ == "__main__":
    development(sys.argv[1])
    ghost_text(sys.argv[1])
