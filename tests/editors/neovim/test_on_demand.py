"""What is filled on demand in a real Neovim by the real server: replaced, previewed, drafted anew, undone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from editors.neovim.driver import Nvim
from support.scripted_server import Say

Start = Callable[..., Nvim]
CODE = "def f():\n    value = '😀' + 3\n    return value\n"
TOTAL = CODE.strip().replace("value = '😀' + 3", "total = 3")
OLD = CODE.strip()


def rewrite(nvim: Nvim, code: str | bytes = CODE) -> None:
    """Have the second line rewritten and wait for the preview."""
    nvim.edit("a.py", code)
    nvim.command("2Midfill rewrite shorter")
    nvim.until(lambda: nvim.floating, "a preview")


def test_a_range_is_replaced_and_undone_in_one_step(start: Start) -> None:
    nvim = start("total = 3")
    nvim.edit("a.py", CODE)
    nvim.command("2Midfill fill")
    nvim.has_text(TOTAL)
    nvim.keys("u")
    nvim.has_text(OLD)


def test_a_rewrite_is_shown_before_it_is_put_in(start: Start) -> None:
    """Neovim makes edits that ask for confirmation without asking."""
    nvim = start("total = 3")
    rewrite(nvim)
    assert "-    value = '😀' + 3\n+    total = 3" in nvim.floating
    assert nvim.event("fill")["instruction"] == "shorter"
    nvim.keys("y")
    nvim.has_text(TOTAL)
    assert not nvim.floating
    nvim.keys("u")
    nvim.has_text(OLD)


@pytest.mark.parametrize("key", ["n", "<Esc>", "<C-w>p"])
def test_a_rewrite_that_is_discarded_leaves_no_trace(start: Start, key: str) -> None:
    nvim = start("total = 3")
    rewrite(nvim)
    nvim.keys(key)
    nvim.until(lambda: not nvim.floating, "no preview")
    nvim.settle()
    nvim.lua("vim.wait(100)")
    assert nvim.text == OLD
    assert "the editor" not in nvim.messages
    nvim.command("2Midfill rewrite again")
    nvim.until(lambda: nvim.floating, "another preview")


def test_another_draft_from_the_preview(start: Start) -> None:
    nvim = start("total = 3", "total = 4")
    rewrite(nvim)
    assert "+    total = 3" in nvim.floating
    nvim.keys("r")
    nvim.until(lambda: "+    total = 4" in nvim.floating, "another draft", lambda: nvim.floating)
    nvim.keys("y")
    nvim.has_text(TOTAL.replace("3", "4"))


def test_another_draft_of_what_was_put_in(start: Start) -> None:
    nvim = start("total = 3", "total = 4")
    nvim.edit("a.py", CODE)
    nvim.command("2Midfill fill")
    nvim.has_text(TOTAL)
    nvim.command("2")
    nvim.command("Midfill draft")
    nvim.has_text(TOTAL.replace("3", "4"))


def test_another_draft_where_nothing_was_filled_is_another_suggestion(start: Start) -> None:
    nvim = start("foo()", "bar()")
    nvim.edit("a.py", "x = \n")
    nvim.keys("A")
    nvim.ghost("foo()")
    nvim.keys("<Esc>:Midfill draft<CR>")
    nvim.until(lambda: nvim.mode == "i" and "bar()" in nvim.shown, "a draft", lambda: nvim.shown)


def test_a_selection_is_rewritten_as_asked_at_a_prompt(start: Start) -> None:
    """By characters, behind ones that are more than a byte, and no further."""
    nvim = start("z")
    nvim.edit("a.py", 'x = "😀é" + y\n')
    nvim.keys('0f"vf":Midfill rewrite<CR>')
    nvim.keys("make it short<CR>")
    nvim.until(lambda: nvim.floating, "a preview")
    asked = nvim.event("fill")
    assert (asked["prefix"], asked["suffix"]) == ("x = ", " + y\n")
    assert asked["instruction"] == "make it short"
    nvim.keys("y")
    nvim.has_text("x = z + y")


def test_a_file_with_dos_line_ends(start: Start) -> None:
    nvim = start("total = 3\r\n    total += 1")
    rewrite(nvim, CODE.replace("\n", "\r\n").encode())
    nvim.keys("y")
    nvim.until(lambda: "    total += 1" in nvim.lines, "the edit", lambda: nvim.text)
    assert "\r" not in nvim.text


def test_all_holes_at_once(start: Start) -> None:
    nvim = start(Say(text="return 1", more=("return 2",)))
    nvim.edit("a.py", "def a():\n    pass\n\n\ndef b():\n    pass\n")
    nvim.command("Midfill holes")
    nvim.until(lambda: "pass" not in nvim.text, "no hole", lambda: nvim.text)
    nvim.keys("u")
    nvim.until(lambda: nvim.text.count("pass") == 2, "the holes", lambda: nvim.text)


def test_a_test_and_a_docstring(start: Start) -> None:
    nvim = start("assert f() == 1")
    nvim.edit("a.py", "def f():\n    return 1\n")
    nvim.command("Midfill test")
    nvim.until(lambda: "test_f" in nvim.text, "a test", lambda: nvim.text)
    nvim.tell(Say(text="Give one."))
    nvim.command("Midfill docstring")
    nvim.until(lambda: '"""' in nvim.text, "a docstring", lambda: nvim.text)


def test_an_engine_that_fails_says_so_in_one_line(start: Start) -> None:
    nvim = start(Say(error="EngineUnavailable"))
    nvim.edit("a.py", CODE)
    nvim.command("2Midfill fill")
    nvim.until(lambda: nvim.messages, "a word")
    assert nvim.messages.startswith("midfill: ")
    assert "\n" not in nvim.messages.strip()
    assert nvim.text == OLD
    nvim.keys("ix")
    nvim.until(lambda: nvim.lines[0].startswith("x"), "no key swallowed by a message")


def test_a_text_that_changes_meanwhile_is_left_alone(start: Start) -> None:
    nvim = start("total = 3")
    rewrite(nvim)
    nvim.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.py'), 0, 0, false, { '# new' })")
    nvim.keys("y")
    nvim.until(lambda: not nvim.floating, "no preview")
    nvim.until(lambda: "the document has changed" in nvim.messages, "a word", lambda: nvim.messages)
    assert nvim.text == "# new\n" + OLD
