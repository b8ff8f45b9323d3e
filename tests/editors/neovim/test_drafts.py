"""Live drafts: drawn while they come, gone at the end and on an edit; the text is never touched."""

from __future__ import annotations

from collections.abc import Callable

from editors.neovim.driver import Nvim
from support.scripted_server import Say

SEND = """
local is_done = ...
require('midfill.drafts').on_draft(nil, {
  token = 't', isDone = is_done, textDocument = { uri = vim.uri_from_bufnr(0) },
  range = { start = { line = 1, character = 0 }, ['end'] = { line = 1, character = 1 } },
  tokens = is_done and {} or { { text = 'a\\nb', isLocked = true }, { text = '?', isLocked = false } },
}, { client_id = 1 })
"""
DRAWN = """
local drafts = require('midfill.drafts')
local marks = vim.api.nvim_buf_get_extmarks(0, drafts.namespace, 0, -1, { details = true })
return vim.tbl_map(function(mark) return mark[4].virt_lines end, marks)
"""
PICTURE = [[[["a", "MidfillDraftLocked"]], [["b", "MidfillDraftLocked"], ["?", "MidfillDraftOpen"]]]]


def test_a_draft_is_drawn_once_and_gone_when_done(start_fresh: Callable[..., Nvim]) -> None:
    nvim = start_fresh(Say(text="foo()"))
    nvim.edit("a.py", "x\ny\n")
    nvim.lua(SEND, False)
    nvim.lua(SEND, False)
    assert nvim.lua(DRAWN) == PICTURE
    nvim.lua(SEND, True)
    assert nvim.lua(DRAWN) == []
    assert nvim.text == "x\ny"


def test_an_edit_takes_the_draft_away(start_fresh: Callable[..., Nvim]) -> None:
    nvim = start_fresh(Say(text="foo()"))
    nvim.edit("a.py", "x\ny\n")
    nvim.lua(SEND, False)
    nvim.keys("Az")
    nvim.until(lambda: nvim.lua(DRAWN) == [], "the draft is gone")
