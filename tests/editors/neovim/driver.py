"""A real Neovim without a screen, driven as a user would: keys go in, buffer and ghost text are looked at.

    with Nvim.start(program, home) as nvim:
        nvim.reset(Say(text="foo()"))
        nvim.edit("a.py", "x = \\n")
        nvim.keys("A")
        nvim.ghost("foo()")

It has its own home, so neither configuration nor engines of whoever runs the tests are touched. Whatever is waited for
fails loudly after PATIENCE_S and says what there was instead.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from editors.neovim.rpc import Rpc
from support.scripted import PATIENCE_S
from support.scripted_server import Say

ROOT = Path(__file__).parents[3]
PLUGIN = ROOT / "editors/neovim"
SERVER = Path(__file__).with_name("scripted_server.py")
POLL_S = 0.005
LEAVING_S = 2.0
NAMESPACES = ("nvim.lsp.inline_completion", "midfill")
USUAL_KEYS = {"keymaps": True}

# The server answers in the order of what it is told: what was told before has been dealt with.
BARRIER = """
for _, client in ipairs(vim.lsp.get_clients({ name = 'midfill' })) do
  client:request_sync('workspace/executeCommand', { command = 'midfill.didAccept' }, 5000)
end
"""

GHOST = """
local namespaces = vim.api.nvim_get_namespaces()
local texts = {}
for _, name in ipairs({...}) do
  local id = namespaces[name]
  for _, mark in ipairs(id and vim.api.nvim_buf_get_extmarks(0, id, 0, -1, { details = true }) or {}) do
    local rows = { mark[4].virt_text }
    vim.list_extend(rows, mark[4].virt_lines or {})
    table.insert(texts, table.concat(vim.tbl_map(function(row)
      return table.concat(vim.tbl_map(function(chunk) return chunk[1] end, row))
    end, rows), '\\n'))
  end
end
return texts
"""


FLOATING = """
for _, window in ipairs(vim.api.nvim_list_wins()) do
  if vim.api.nvim_win_get_config(window).relative ~= '' then
    return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\\n')
  end
end
return ''
"""


class Nvim:
    """One Neovim with the plug-in, and the events that its scripted server tells."""

    def __init__(self, rpc: Rpc, home: Path, script: Path, events: Path) -> None:
        self.rpc = rpc
        self._home = home
        self._script = script
        self._events = events
        self._number = 0

    @classmethod
    @contextmanager
    def start(
        cls,
        program: Path,
        home: Path,
        *says: Say,
        command: Sequence[str] = (),
        options: Mapping[str, Any] = USUAL_KEYS,
        before: str = "",
        name: str = "nvim",
        **script: Any,
    ) -> Iterator[Nvim]:
        """`command`: another server than the scripted one. `options`: those of setup(). `before`: Lua before it.

        Several of one `home` share their engines."""
        script_file, events, init = (home / f"{name}{ending}" for ending in ("-script.json", "-events.jsonl", ".lua"))
        command = command or [sys.executable, "-W", "error", str(SERVER), str(script_file), str(events)]
        init.write_text(_init_lua({"cmd": command} | dict(options), before))
        _write_script(script_file, 0, says, **script)
        events.touch()
        arguments = [str(program), "--embed", "--headless", "-n", "-u", str(init)]
        nvim = cls(Rpc(arguments, {**os.environ, **_variables(home)}), home, script_file, events)
        try:
            yield nvim
        finally:
            nvim.quit()

    def reset(self, *says: Say, **script: Any) -> None:
        """As if started anew, with the server's process as it is: no buffer, no event, other answers."""
        self.keys("<C-\\><C-n>")
        self.settle()
        self.command("silent! only!")
        self.command("silent! %bwipeout!")
        self.command("messages clear")
        self.lua(BARRIER)
        self._number += 1
        self.tell(*says, **script)
        self._events.write_text("")

    def tell(self, *says: Say, **script: Any) -> None:
        """Give the server another script."""
        _write_script(self._script, self._number, says, **script)

    # What a user does.

    def edit(self, name: str, text: str | bytes, *, waits: bool = True) -> Path:
        """Open a new file that has this text."""
        path = self._home / str(self._number) / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.command(f"edit {path}")
        if waits:
            self.wait_for_server()
        return path

    def wait_for_server(self) -> None:
        self.until(
            lambda: self.lua(
                "local c = vim.lsp.get_clients({bufnr = 0, name = 'midfill'})[1]; return c and c.initialized"
            ),
            "a server",
        )

    def command(self, command: str) -> None:
        self.rpc.call("nvim_command", command)

    def keys(self, keys: str) -> None:
        """Type, all at once."""
        left = keys
        while left:
            left = left[self.rpc.call("nvim_input", left) :]

    def type(self, text: str) -> None:
        """Type key by key, each when Neovim has dealt with the one before."""
        for key in text:
            self.keys(key)
            self.settle()

    def settle(self) -> None:
        """Until Neovim has nothing to do but wait for a key."""
        self.until(lambda: not self.lua("return vim.fn.getchar(1) ~= 0"), "idle")

    def quit(self) -> list[int]:
        """Leave with :qa! and wait; the processes that were its children and are still there then."""
        process = self.rpc.process
        if process.poll() is not None:
            return []
        children = psutil.Process(process.pid).children(recursive=True)
        self.rpc.send("nvim_command", "qa!")
        self.rpc.leave()
        deadline = time.monotonic() + LEAVING_S
        while (alive := [child.pid for child in children if _is_alive(child)]) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        return alive

    # What a user sees.

    @property
    def lines(self) -> list[str]:
        return list(self.rpc.call("nvim_buf_get_lines", 0, 0, -1, False))

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def column(self) -> int:
        """Of the cursor, in bytes."""
        return int(self.rpc.call("nvim_win_get_cursor", 0)[1])

    @property
    def mode(self) -> str:
        return str(self.rpc.call("nvim_get_mode")["mode"])

    @property
    def shown(self) -> str:
        """The ghost text, as it is."""
        return "|".join(self.lua(GHOST, *NAMESPACES))

    @property
    def floating(self) -> str:
        """What stands in a floating window."""
        return str(self.lua(FLOATING))

    @property
    def messages(self) -> str:
        return str(self.rpc.call("nvim_exec2", "messages", {"output": True})["output"])

    def ghost(self, wanted: str) -> None:
        """Wait until this is the ghost text; "": until there is none."""
        self.until(lambda: self.shown == wanted, f"ghost text {wanted!r}", lambda: self.shown)

    def has_text(self, wanted: str) -> None:
        """Wait until this is in the buffer."""
        self.until(lambda: self.text == wanted, f"text {wanted!r}", lambda: self.text)

    # What the server and Neovim tell.

    def lua(self, code: str, *arguments: Any) -> Any:
        return self.rpc.call("nvim_exec_lua", code, arguments)

    def events(self, kind: str) -> list[dict[str, Any]]:
        lines = self._events.read_text().split("\n")[:-1]
        return [event for event in map(json.loads, lines) if event["event"] == kind]

    def event(self, kind: str, number: int = 1) -> dict[str, Any]:
        """Wait for the event of that kind, counted from 1."""
        self.until(lambda: len(self.events(kind)) >= number, f"event {kind} no. {number}", self._events.read_text)
        return self.events(kind)[number - 1]

    def until(
        self,
        is_so: Callable[[], Any],
        what: str,
        instead: Callable[[], Any] = lambda: "",
        patience_s: float = PATIENCE_S,
    ) -> None:
        deadline = time.monotonic() + patience_s
        while not is_so():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited for {what}, got {instead()!r}; messages: {self.messages!r}")
            time.sleep(POLL_S)


def _write_script(path: Path, number: int, says: Sequence[Say], **script: Any) -> None:
    answers = [asdict(say) for say in says or (Say(text="pass"),)]
    draft = path.with_suffix(".new")
    draft.write_text(
        json.dumps({"number": number, "answers": answers, "start_error": "", "start_held": False} | script)
    )
    draft.replace(path)


def _init_lua(options: Mapping[str, Any], before: str) -> str:
    return f"""
vim.opt.runtimepath:prepend([[{PLUGIN}]])
{before}
require('midfill').setup(vim.json.decode([==[{json.dumps(options)}]==]))
"""


def _variables(home: Path) -> dict[str, str]:
    """A home of its own, and the tested midfill first in PATH."""
    runtime = home / "run"
    runtime.mkdir(mode=0o700, exist_ok=True)
    names = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    return {name: str(home / name.lower()) for name in names} | {
        "XDG_RUNTIME_DIR": str(runtime),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_WAIT_POLICY": "passive",
    }


def _is_alive(process: psutil.Process) -> bool:
    """A zombie has ended: nobody has asked for its exit code yet."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
