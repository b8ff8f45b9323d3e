"""Ghost text in a real Neovim, with the real server and a scripted model: shown, accepted, taken away."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from editors.neovim.driver import Nvim
from support.scripted_server import Say

Start = Callable[..., Nvim]


def test_it_appears_and_tab_accepts_it(start: Start) -> None:
    nvim = start("foo(a, b)")
    nvim.edit("a.py", "x = 1\ny = \n")
    nvim.keys("GA")
    nvim.ghost("foo(a, b)")
    nvim.keys("<Tab>")
    nvim.has_text("x = 1\ny = foo(a, b)")
    assert (nvim.column, nvim.shown) == (len("y = foo(a, b)"), "")
    assert nvim.messages == ""


def test_our_own_in_a_neovim_that_has_its_own(start_own: Start) -> None:
    nvim = start_own("foo(a, b)")
    nvim.edit("a.py", "y = \n")
    nvim.keys("A")
    nvim.ghost("foo(a, b)")
    nvim.keys("f<Tab>")
    nvim.has_text("y = foo(a, b)")


def test_our_own_shows_what_is_behind_it_where_it_will_be(start_own: Start) -> None:
    """The closing bracket was shown in the first line, before the lines that go into the brackets."""
    nvim = start_own("\n    a,\n    b")
    nvim.edit("a.py", "x = foo()\n")
    nvim.keys("A<Left>")
    nvim.ghost(" \n    a,\n    b)")
    nvim.keys("<Tab>")
    nvim.has_text("x = foo(\n    a,\n    b)")


def test_a_word_and_a_line_leave_the_rest_without_asking_the_model(start: Start) -> None:
    """Neither of the two ways to accept a part may cost a call: what is asked for next comes after all of it."""
    nvim = start("one + two(\n    three,\n)", "other")
    nvim.edit("a.py", "x = \n")
    nvim.keys("A")
    nvim.ghost("one + two(\n    three,\n)")
    nvim.keys("<C-Right>")
    nvim.has_text("x = one")
    nvim.ghost(" + two(\n    three,\n)")
    nvim.keys("<M-Right>")
    nvim.has_text("x = one + two(")
    nvim.ghost("\n    three,\n)")
    nvim.keys("<C-Right>")
    nvim.has_text("x = one + two(\n    three")
    nvim.ghost(",\n)")
    nvim.keys("<Tab>")
    nvim.has_text("x = one + two(\n    three,\n)")
    nvim.keys("<CR>y = ")
    nvim.ghost("other")
    whole = "x = one + two(\n    three,\n)"
    assert all(event["prefix"].startswith(whole) for event in nvim.events("fill")[1:])


def test_typing_into_it_keeps_the_rest_and_asks_nothing(start: Start) -> None:
    nvim = start("foobar(a)", "other")
    nvim.edit("a.py", "x = \n")
    nvim.keys("A")
    nvim.ghost("foobar(a)")
    nvim.type("foo")
    nvim.ghost("bar(a)")
    nvim.keys("<BS><BS><BS>1<CR>")
    nvim.ghost("other")
    assert all(not event["prefix"].endswith("foo") for event in nvim.events("fill"))


def test_a_key_and_tab_in_one_go(start: Start) -> None:
    """Neovim accepts `foobar` after `foob` and a quick `a` as `foobara`."""
    nvim = start("ar")
    nvim.edit("a.py", "foob\n")
    nvim.keys("A")
    nvim.ghost("ar")
    nvim.keys("a<Tab>")
    nvim.has_text("foobar")


def test_a_wrong_key_and_tab_in_one_go(start: Start) -> None:
    """Nothing that fits is there any more: Tab is Tab, which in Python is spaces."""
    nvim = start(Say(text="ar"), Say(text=""))
    nvim.edit("a.py", "foob\n")
    nvim.keys("A")
    nvim.ghost("ar")
    nvim.keys("x<Tab>y")
    nvim.has_text("foobx   y")
    nvim.ghost("")


@pytest.mark.parametrize("key", ["<Esc>", "<C-c>"])
def test_leaving_insert_mode_takes_it_away(start: Start, key: str) -> None:
    """On <C-c> there is no InsertLeave, and ghost text stayed in normal mode."""
    nvim = start("foo()")
    nvim.edit("a.py", "x = \n")
    nvim.keys("A")
    nvim.ghost("foo()")
    nvim.keys(key)
    nvim.ghost("")
    assert nvim.mode == "n"
    nvim.keys("A")
    nvim.ghost("foo()")


def test_an_answer_that_comes_after_insert_mode_is_not_shown(start: Start) -> None:
    nvim = start(Say(text="foo()", num_steps=2, hold_before=2), Say(text="bar()"))
    nvim.edit("a.py", "x = \n")
    nvim.keys("A")
    nvim.event("step")
    nvim.keys("<C-c>")
    nvim.event("cancelled")
    nvim.keys("oy = ")
    nvim.ghost("bar()")


def test_backspace_over_the_start_of_the_line(start: Start) -> None:
    """The ghost text belonged to a line that is gone."""
    nvim = start(Say(text="foo()"), Say(text=""))
    nvim.edit("a.py", "x = 1\n\n")
    nvim.lua("vim.o.backspace = 'indent,eol,start'")
    nvim.keys("GA")
    nvim.ghost("foo()")
    nvim.keys("<BS>")
    nvim.has_text("x = 1")
    nvim.ghost("")


def test_no_suggestion_no_ghost_and_tab_is_tab(start: Start) -> None:
    """Tab meant as indentation accepted, or put the text of a mapping into the buffer."""
    nvim = start(Say(text=""))
    nvim.edit("a.py", "if x:\n\n")
    nvim.keys("GA")
    nvim.event("finished")
    nvim.keys("<Tab>y<C-Right><C-]>z")
    nvim.has_text("if x:\n    yz")


def test_what_tab_did_before_it_does_still(start_fresh: Start) -> None:
    """A mapping of the user's own is not lost."""
    before = "vim.keymap.set('i', '<Tab>', '<C-v>u2192')\nvim.keymap.set('i', '<C-]>', function() vim.g.called = 1 end)"
    nvim = start_fresh(Say(text=""), before=before)
    nvim.edit("a.py", "\n")
    nvim.keys("A")
    nvim.event("finished")
    nvim.keys("<Tab><C-]>")
    nvim.has_text("→")
    nvim.until(lambda: nvim.lua("return vim.g.called"), "the user's function")


def test_undo_once_keeps_what_was_typed(start: Start) -> None:
    """One undo took the typed line away together with the suggestion."""
    nvim = start("456")
    nvim.edit("a.py", "\n")
    nvim.keys("A123")
    nvim.ghost("456")
    nvim.keys("<Tab>")
    nvim.has_text("123456")
    nvim.keys("<Esc>u")
    nvim.has_text("123")
    nvim.keys("u")
    nvim.has_text("")


def test_what_is_typed_after_it_is_undone_first(start: Start) -> None:
    nvim = start(Say(text="456"), Say(text=""))
    nvim.edit("a.py", "\n")
    nvim.keys("A123")
    nvim.ghost("456")
    nvim.keys("<Tab>")
    nvim.has_text("123456")
    nvim.keys("789<Esc>u")
    nvim.until(lambda: nvim.text in ("123", "123456"), "an undo", lambda: nvim.text)
    nvim.keys("<C-r>")
    nvim.has_text("123456789")


def test_columns_behind_characters_of_many_bytes(start: Start) -> None:
    nvim = start('ü("😀", x)')
    nvim.edit("a.py", 's = "😀é" + \n')
    nvim.keys("A")
    nvim.ghost('ü("😀", x)')
    nvim.keys("<C-Right>")
    nvim.has_text('s = "😀é" + ü')
    nvim.ghost('("😀", x)')
    nvim.keys("<C-Right><C-Right>")
    nvim.has_text('s = "😀é" + ü("😀')
    nvim.keys("<Tab>")
    nvim.has_text('s = "😀é" + ü("😀", x)')
    assert nvim.column == len('s = "😀é" + ü("😀", x)'.encode())


def test_text_after_the_cursor_stays(start: Start) -> None:
    """The cursor is left behind what came in, not at the end of the line."""
    nvim = start("a")
    nvim.edit("a.py", 'foo(, "😀")\n')
    nvim.keys("0f,i")
    nvim.ghost("a")
    nvim.keys("<Tab>")
    nvim.has_text('foo(a, "😀")')
    assert nvim.column == len("foo(a")


def test_a_closing_bracket_is_not_doubled(start: Start) -> None:
    nvim = start(", bar)")
    nvim.edit("a.py", "print(foo)\n")
    nvim.keys("0f)i")
    nvim.until(lambda: nvim.shown, "ghost text")
    nvim.keys("<Tab>")
    nvim.has_text("print(foo, bar)")


def test_a_file_with_dos_line_ends(start: Start) -> None:
    """Accepted text left ^M in the buffer, or the file with two kinds of line ends."""
    nvim = start("foo(\r\n    1,\r\n)")
    path = nvim.edit("a.py", b"a = 1\r\nb = \r\n")
    assert nvim.lua("return vim.bo.fileformat") == "dos"
    nvim.keys("GA")
    nvim.ghost("foo(\n    1,\n)")
    nvim.keys("<Tab>")
    nvim.has_text("a = 1\nb = foo(\n    1,\n)")
    nvim.keys("<Esc>:silent write<CR>")
    nvim.until(lambda: not nvim.lua("return vim.bo.modified"), "a write")
    assert path.read_bytes() == b"a = 1\r\nb = foo(\r\n    1,\r\n)\r\n"


def test_a_buffer_without_a_name(start: Start) -> None:
    nvim = start("foo()")
    nvim.command("enew")
    nvim.command("setfiletype python")
    nvim.wait_for_server()
    nvim.keys("ix = ")
    nvim.ghost("foo()")
    nvim.keys("<Tab>")
    nvim.has_text("x = foo()")


def test_a_popup_menu_hides_it(start: Start) -> None:
    nvim = start("foo()")
    nvim.edit("a.py", "alpha = alpine = 1\n\n")
    nvim.lua("vim.o.completeopt = 'menuone,noselect'")
    nvim.keys("GAal")
    nvim.ghost("foo()")
    nvim.keys("<C-n>")
    nvim.until(lambda: nvim.lua("return vim.fn.pumvisible()") == 1, "a menu")
    nvim.ghost("")
    nvim.keys("<C-e>")
    nvim.ghost("foo()")


def test_more_suggestions_one_after_the_other(start: Start) -> None:
    nvim = start(Say(text="one"), Say(text="one", others=("two", "three")))
    nvim.edit("a.py", "x = \n")
    nvim.keys("A")
    nvim.ghost("one")
    nvim.keys("<M-n>")
    nvim.ghost("two (2/3)")
    assert nvim.event("fill", 2)["num_candidates"] == 3
    nvim.keys("<M-n>")
    nvim.ghost("three (3/3)")
    nvim.keys("<M-n>")
    nvim.ghost("one (1/3)")
    nvim.keys("<M-p>")
    nvim.ghost("three (3/3)")
    nvim.keys("<Tab>")
    nvim.has_text("x = three")


def test_dismissed_it_stays_away_until_the_text_is_another(start: Start) -> None:
    nvim = start("foo()", "bar()")
    nvim.edit("a.py", "x = \n")
    nvim.keys("A")
    nvim.ghost("foo()")
    nvim.keys("<C-]>")
    nvim.ghost("")
    # The built-in asks 200 ms after a key; until then something else has to happen.
    nvim.until(lambda: nvim.lua("return vim.wait(300, function() return false end)") is False, "a while")
    nvim.keys("<Ignore>")
    nvim.settle()
    assert nvim.shown == ""
    nvim.keys("1 + ")
    nvim.ghost("bar()")


def test_off_and_on(start: Start) -> None:
    nvim = start("foo()")
    nvim.edit("a.py", "x = \n")
    nvim.keys("A")
    nvim.ghost("foo()")
    nvim.keys("<Cmd>Midfill toggle<CR>")
    nvim.ghost("")
    assert nvim.lua("return require('midfill').statusline()") == "midfill: off"
    nvim.keys("<Cmd>Midfill toggle<CR>")
    nvim.ghost("foo()")


def test_asked_for_in_normal_mode(start: Start) -> None:
    nvim = start("foo()")
    nvim.edit("a.py", "x = \n")
    nvim.keys("$:Midfill fill<CR>")
    nvim.ghost("foo()")
    assert nvim.mode == "i"
    nvim.keys("<Tab>")
    nvim.has_text("x = foo()")


def test_two_windows_on_one_buffer(start: Start) -> None:
    nvim = start("foo()")
    nvim.edit("a.py", "x = 1\ny = \n")
    nvim.command("split")
    nvim.keys("ggGA")
    nvim.ghost("foo()")
    nvim.keys("<Tab>")
    nvim.has_text("x = 1\ny = foo()")
    nvim.keys("<Esc><C-w>joz = ")
    nvim.ghost("foo()")
    nvim.keys("<Tab>")
    nvim.until(lambda: "z = foo()" in nvim.lines, "the text", lambda: nvim.text)


def test_fast_typing_asks_for_the_last_text_only(start: Start) -> None:
    nvim = start("foo()")
    nvim.edit("a.py", "\n")
    nvim.keys("Avalue = ")
    nvim.ghost("foo()")
    assert nvim.events("finished")[-1]["request_id"] == nvim.events("fill")[-1]["request_id"]
    assert nvim.events("fill")[-1]["prefix"] == "value = "
    assert len(nvim.events("finished")) == 1
