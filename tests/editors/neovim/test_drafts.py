"""Live drafts: drawn in place of the text while the real server makes them; gone at the end, on an edit, on leaving.

The text is never touched by a drawing.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from editors.neovim.driver import Nvim
from support.scripted_server import Say

Start = Callable[..., Nvim]
DRAWN = """
local drafts = require('midfill.drafts')
local marks = vim.api.nvim_buf_get_extmarks(0, drafts.namespace, 0, -1, { details = true })
return vim.tbl_map(function(mark)
  return { mark[2], mark[3], mark[4].virt_text or {}, mark[4].virt_lines or {} }
end, marks)
"""
HELD = Say(text="total = 1 +\n    2", num_steps=2, hold_before=2)


def drawn(nvim: Nvim) -> list[str]:
    """The rows that are painted over, and those below, as their text."""
    rows: list[str] = []
    for row, column, over, below in nvim.lua(DRAWN):
        if over:
            rows.append(f"{row},{column} {''.join(text for text, _ in over)}")
        rows += ["+ " + "".join(text for text, _ in line) for line in below]
    return rows


def groups(nvim: Nvim) -> set[str]:
    return {group for _, _, over, below in nvim.lua(DRAWN) for line in [over, *below] for _, group in line}


def develop(nvim: Nvim) -> None:
    """Ask for something else in place of the second line, and wait until half of it is known."""
    nvim.edit("a.py", "def f():\n    value = '😀' + 3\n    return value\n")
    nvim.command("2Midfill fill")
    nvim.until(lambda: drawn(nvim), "a drawing")


def test_it_is_drawn_in_place_with_what_is_sure_and_what_is_not(start: Start) -> None:
    nvim = start(HELD)
    develop(nvim)
    assert drawn(nvim)[0].startswith("1,4 total =")
    assert "░" in "".join(drawn(nvim))
    assert {"MidfillDraftLocked", "MidfillDraftOpen"} <= groups(nvim)
    assert nvim.lines[1] == "    value = '😀' + 3"
    nvim.command("Midfill dismiss")
    nvim.event("cancelled")
    nvim.until(lambda: not drawn(nvim), "the drawing is gone")
    nvim.settle()
    assert nvim.messages == ""


def test_it_is_gone_when_all_is_done(start: Start) -> None:
    nvim = start(Say(text="total = 3"))
    nvim.edit("a.py", "def f():\n    value = 3\n    return value\n")
    nvim.command("2Midfill fill")
    nvim.has_text("def f():\n    total = 3\n    return value")
    nvim.until(lambda: not drawn(nvim), "the drawing is gone")


@pytest.mark.parametrize("away", ["Az", ":enew!<CR>"])
def test_an_edit_or_leaving_takes_it_away(start: Start, away: str) -> None:
    """It stood over a text that it was not made for."""
    nvim = start(HELD)
    develop(nvim)
    nvim.keys(away)
    nvim.until(lambda: not drawn(nvim), "the drawing is gone")
    nvim.lua("require('midfill.ondemand').stop(vim.fn.bufnr('a.py'))")
    nvim.event("cancelled")
