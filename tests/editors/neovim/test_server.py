"""The plug-in and the server's process: how it is found, started, told of and left; what :Midfill says."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from editors.neovim.conftest import nvim_at
from editors.neovim.driver import PLUGIN, Nvim
from support.scripted_server import Say

Start = Callable[..., Nvim]
FIND = "return require('midfill.program').find(...)"


def midfill(nvim: Nvim, words: str) -> str:
    """Run :Midfill; what it said."""
    nvim.command("messages clear")
    nvim.command(f"Midfill {words}")
    return nvim.messages


def statusline(nvim: Nvim) -> str:
    return str(nvim.lua("return require('midfill').statusline()"))


def processes(nvim: Nvim) -> list[int]:
    return [child.pid for child in psutil.Process(nvim.rpc.process.pid).children(recursive=True)]


def program_at(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_leaving_neovim_leaves_no_process(start_fresh: Start) -> None:
    """Servers outlived their editor; here also one that is in the middle of a fill."""
    nvim = start_fresh(Say(text="foo()", num_steps=2, hold_before=2))
    nvim.edit("a.py", "x = \n")
    nvim.keys("A")
    nvim.event("step")
    assert processes(nvim)
    assert nvim.quit() == []


def test_an_engine_that_fails_disturbs_nobody(start_fresh: Start) -> None:
    """The engine is killed meanwhile: no message, and the next suggestion comes."""
    nvim = start_fresh(Say(error="EngineUnavailable"), Say(error="EngineUnavailable"), Say(text=" + foo()"))
    nvim.edit("a.py", "\n")
    nvim.keys("Ax = ")
    nvim.event("fill", 1)

    def is_shown_after_another_key() -> bool:
        nvim.keys("1")
        return bool(nvim.lua("return vim.wait(500, require('midfill').is_shown, 5)"))

    nvim.until(is_shown_after_another_key, "a suggestion")
    nvim.ghost(" + foo()")
    assert len(nvim.events("fill")) == 3
    assert nvim.messages == ""


def test_the_status_line_follows_the_server(start_own: Start) -> None:
    nvim = start_own("foo()", start_held=True)
    assert statusline(nvim) == ""
    nvim.edit("a.py", "x = \n")
    nvim.until(lambda: statusline(nvim) == "midfill: loading pocket", "a word of loading", lambda: statusline(nvim))
    nvim.tell(Say(text="foo()"))
    nvim.until(lambda: statusline(nvim) == "midfill: pocket", "readiness", lambda: statusline(nvim))
    assert midfill(nvim, "status") == "midfill: ready"
    nvim.keys("A")
    nvim.ghost("foo()")
    assert re.fullmatch(r"midfill: pocket \d+ ms", statusline(nvim))


def test_the_status_line_is_that_of_the_buffer_in_use(start_own: Start) -> None:
    """It went on telling of the file before until something was typed."""
    nvim = start_own("foo()", options={"settings": {"excludeGlobs": ["*_made.py"]}})
    nvim.edit("a.py", "x = \n")
    nvim.until(lambda: statusline(nvim) == "midfill: pocket", "readiness", lambda: statusline(nvim))
    nvim.edit("b_made.py", "x = \n")
    nvim.until(lambda: statusline(nvim) == "midfill: off", "off", lambda: statusline(nvim))
    nvim.command("buffer a.py")
    nvim.until(lambda: statusline(nvim) == "midfill: pocket", "on again", lambda: statusline(nvim))


def test_a_model_that_cannot_be_started_is_told_in_the_status_line_only(start_own: Start) -> None:
    nvim = start_own(start_error="PresetError")
    nvim.edit("a.py", "x = \n")
    nvim.until(lambda: statusline(nvim) == "midfill: as told", "an error", lambda: statusline(nvim))
    assert nvim.messages == ""
    assert "ERROR server 1: as told" in checkhealth(nvim)


def test_restart(start_fresh: Start) -> None:
    nvim = start_fresh("foo()")
    nvim.edit("a.py", "x = \n")
    before = processes(nvim)
    midfill(nvim, "restart")
    nvim.until(lambda: len(processes(nvim)) == 1 and processes(nvim) != before, "another process")
    nvim.wait_for_server()
    nvim.keys("A")
    nvim.ghost("foo()")


def test_another_model_at_once(start_own: Start) -> None:
    """By its name, or chosen from those that the server lists with size, licence and fit."""
    nvim = start_own("foo()", options={"settings": {"preset": "mine"}})
    nvim.edit("a.py", "x = \n")
    assert nvim.event("start")["preset"] == "mine"
    midfill(nvim, "model other")
    assert nvim.event("start", 2)["preset"] == "other"
    nvim.lua("""
      vim.ui.select = function(items, options, on_choice)
        vim.g.listed = vim.tbl_map(options.format_item, items)
        on_choice(vim.iter(items):find(function(item) return item.name == 'pocket' end))
      end
    """)
    midfill(nvim, "model")
    assert nvim.event("start", 3)["preset"] == "pocket"
    (pocket,) = [line for line in nvim.lua("return vim.g.listed") if "pocket" in line]
    assert "MB" in pocket


def test_what_the_server_does_not_announce_says_so_in_one_line(start_own: Start) -> None:
    nvim = start_own("foo()")
    assert midfill(nvim, "fill") == "midfill: fill: no server for this buffer; see :checkhealth midfill"
    nvim.edit("a.py", "x = \n")
    nvim.lua("""
      local client = vim.lsp.get_clients({ name = 'midfill' })[1]
      client.server_capabilities.executeCommandProvider.commands = {}
    """)
    for name in ("stats", "rewrite shorter", "holes"):
        assert midfill(nvim, name) == f"midfill: {name.split()[0]}: this server cannot do that"
    assert midfill(nvim, "nonsense") == "midfill: no such command: nonsense"
    completed = nvim.lua("return vim.fn.getcompletion('Midfill ', 'cmdline')")
    assert "stats" not in completed
    assert {"fill", "log", "restart", "status", "toggle"} <= set(completed)


def test_the_server_is_told_of_what_was_accepted_but_not_of_a_word(start_fresh: Start) -> None:
    nvim = start_fresh("one + two")
    nvim.edit("a.py", "x = \n")
    nvim.keys("A")
    nvim.ghost("one + two")
    nvim.keys("<C-Right>")
    nvim.ghost(" + two")
    assert "| accepted | 0" in stats(nvim)
    nvim.keys("<Tab>")
    nvim.has_text("x = one + two")
    nvim.until(lambda: "| accepted | 1 " in stats(nvim), "a count of it", lambda: stats(nvim))


def stats(nvim: Nvim) -> str:
    """As the server tells them."""
    return str(
        nvim.lua("""
          local client = vim.lsp.get_clients({ name = 'midfill' })[1]
          local params = { command = 'midfill.stats', arguments = { vim.empty_dict() } }
          return client:request_sync('workspace/executeCommand', params, 5000).result.text
        """)
    )


def test_statistics_are_shown_in_a_window(start_own: Start) -> None:
    nvim = start_own("foo()")
    nvim.edit("a.py", "x = \n")
    nvim.command("Midfill stats")
    nvim.until(lambda: "accepted" in nvim.floating, "statistics")
    assert nvim.messages == ""


def test_the_log_opens(start_own: Start) -> None:
    nvim = start_own("foo()")
    nvim.edit("a.py", "x = \n")
    nvim.command("Midfill log")
    assert nvim.lua("return vim.fn.expand('%:t')") == "lsp.log"


def test_where_the_program_is_looked_for(start_own: Start, home: Path) -> None:
    """The setting, the workspace's own if that is allowed, PATH."""
    nvim = start_own("foo()")
    set_options = "require('midfill.options').set(...)"
    in_path = program_at(home / "bin/midfill")
    in_workspace = program_at(home / "ws/.venv/bin/midfill")
    nvim.lua("vim.env.PATH = ...", f"{in_path.parent}:/usr/bin:/bin")
    for options, cmd in [
        ({}, [str(in_path), "serve"]),
        ({"workspace_venv": True}, [str(in_workspace), "serve"]),
        ({"workspace_venv": True, "cmd": str(in_path)}, [str(in_path), "serve"]),
        ({"cmd": [str(in_path), "serve", "--more"]}, [str(in_path), "serve", "--more"]),
    ]:
        nvim.lua(set_options, options)
        assert nvim.lua(FIND, str(home / "ws"))["cmd"] == cmd
    nvim.lua(set_options, {"cmd": "/nowhere/midfill"})
    assert nvim.lua(FIND, str(home / "ws")) == {"from": "option cmd: /nowhere/midfill is not executable"}


def test_no_program_is_said_once(start_own: Start) -> None:
    nvim = start_own(options={"cmd": ["/nowhere/midfill"]})
    nvim.edit("a.py", "x = \n", waits=False)
    nvim.edit("b.py", "x = \n", waits=False)
    assert nvim.messages.count("midfill: option cmd: /nowhere/midfill is not executable; see :checkhealth midfill") == 1
    assert "ERROR option cmd: /nowhere/midfill is not executable" in checkhealth(nvim)
    assert "Install midfill" in checkhealth(nvim)


def test_bad_options_are_named_and_the_others_taken(start_own: Start) -> None:
    nvim = start_own(
        "foo()", options={"ghosts": 1, "workspace_venv": "yes", "settings": {"preset": "mine", "wrong": 1}}
    )
    assert "midfill: option ghosts is unknown" in nvim.messages
    assert 'midfill: option workspace_venv must be true or false, not "yes"' in nvim.messages
    nvim.edit("a.py", "x = \n")
    assert nvim.event("start")["preset"] == "mine"


def test_neovims_own_way_without_setup(home: Path, program: Path) -> None:
    """vim.lsp.config and vim.lsp.enable are all that is needed; no key is mapped."""
    enable = (
        "require('midfill').setup = function(o) vim.lsp.config('midfill', {cmd = o.cmd}); vim.lsp.enable('midfill') end"
    )
    with Nvim.start(program, home, Say(text="foo()"), options={}, before=enable) as nvim:
        nvim.edit("a.py", "x = \n")
        nvim.keys("A")
        nvim.ghost("foo()")
        nvim.keys("<Cmd>lua require('midfill').accept()<CR><Tab>y")
        nvim.has_text("x = foo()   y")


LAZILY = """
vim.opt.runtimepath:remove(PLUGIN)
local loaded = {}
_G.package.loaded.midfill = { setup = function(options) loaded.options = options end }
vim.api.nvim_create_autocmd('FileType', { pattern = 'python', once = true, callback = function(event)
  package.loaded.midfill = nil
  vim.opt.runtimepath:prepend(PLUGIN)
  vim.cmd.source(PLUGIN .. '/plugin/midfill.lua')
  require('midfill').setup(loaded.options)
  vim.api.nvim_exec_autocmds('FileType', { buffer = event.buf, modeline = false })
end })
"""


@pytest.mark.parametrize("version", ["0.12", "0.11"])
def test_loaded_by_the_first_python_buffer(home: Path, version: str) -> None:
    """As lazy.nvim does with `ft`: path, plug-in file, setup() and the event once more, all within that event."""
    before = f"vim.go.loadplugins = false\nlocal PLUGIN = [[{PLUGIN}]]\n{LAZILY}"
    with Nvim.start(nvim_at(version), home, Say(text="foo()"), before=before) as nvim:
        assert not nvim.lua("return vim.g.loaded_midfill")
        nvim.edit("a.py", "x = \n")
        nvim.keys("A")
        nvim.ghost("foo()")
        nvim.keys("<Tab>")
        nvim.has_text("x = foo()")
        assert nvim.messages == ""


def checkhealth(nvim: Nvim) -> str:
    nvim.command("checkhealth midfill")
    text = nvim.text
    nvim.command("bwipeout!")
    return text


def test_checkhealth_when_all_is_well(start: Start) -> None:
    nvim = start("foo()")
    nvim.edit("a.py", "x = \n")
    nvim.keys("A")
    nvim.ghost("foo()")
    nvim.keys("<Esc>")
    told = checkhealth(nvim)
    assert "OK server 1: ready, 1 buffers, utf-8" in told
    assert "OK <C-]>" in told or "<Tab> accept" in told
    assert "ERROR" not in told
    assert "WARNING" not in told


def test_checkhealth_names_what_to_do(start_own: Start) -> None:
    nvim = start_own("foo()", options={"keymaps": False})
    nvim.command("Midfill toggle")
    told = checkhealth(nvim)
    assert "keymaps = true" in told
    assert "Switched off" in told
    assert ":Midfill toggle" in told


def test_every_subcommand_and_option_is_in_the_help(start: Start) -> None:
    nvim = start()
    text = (PLUGIN / "doc/midfill.txt").read_text("utf-8")
    for name in nvim.lua("return vim.tbl_keys(require('midfill.commands').subcommands)"):
        assert f":Midfill {name}" in text, name
    for name in nvim.lua("return vim.tbl_keys(require('midfill.options').defaults)"):
        assert f"*midfill-option-{name}*" in text, name
    for name, key in nvim.lua("return require('midfill.options').default_keymaps").items():
        assert name in text, name
        assert key in text, key
    nvim.command(f"helptags {PLUGIN / 'doc'}")
    try:
        assert "midfill-keys" in nvim.lua("return vim.fn.getcompletion('midfill-', 'help')")
    finally:
        (PLUGIN / "doc/tags").unlink()


@pytest.mark.parametrize("name", ["lua", "plugin", "lsp"])
def test_the_plugin_loads_without_a_warning(start_own: Start, name: str) -> None:
    """Every file is correct Lua; os.walk, because a file nobody requires would not be noticed."""
    nvim = start_own("foo()")
    for folder, _, files in os.walk(PLUGIN / name):
        for file in files:
            assert nvim.lua("return select(2, loadfile(...))", f"{folder}/{file}") is None
    assert nvim.messages == ""
