"""Another draft: of what was filled last, wherever it stands by now, and never one that was offered already."""

from __future__ import annotations

import pytest

from support.editor import EMACS, HELIX, NEOVIM_WHOLE, VSCODE, Editor
from support.lsp_client import Message
from support.lsp_session import fills, texts
from support.scripted_server import Say

FILL, REWRITE, NEXT = "midfill.fill", "midfill.rewrite", "midfill.nextDraft"
DONE = {"applied": True, "message": "", "numHoles": 1}
NOTHING_ELSE = {"applied": False, "message": "the model has found nothing else", "numHoles": 0}
NEVER = {
    "applied": False,
    "message": "nothing was filled in this document that could be filled again",
    "numHoles": 0,
}


@pytest.mark.parametrize("capabilities", [VSCODE, NEOVIM_WHOLE, HELIX, EMACS])
async def test_another_draft_replaces_the_last_in_one_edit(capabilities: Message) -> None:
    said = Say(text="1"), Say(text="2"), Say(text="3")
    async with Editor.run("x = |\ny\n", *said, capabilities=capabilities) as editor:
        assert await editor.command(FILL, position=editor.cursor) == DONE
        for number in ("2", "3"):
            assert await editor.command(NEXT) == DONE
            assert editor.text == f"x = {number}\ny\n"
        assert len(editor.edits) == 3
        seeds = [request["seed"] for request in fills(editor.client)]
        assert seeds == sorted(set(seeds))


async def test_what_was_offered_is_skipped_and_the_search_for_something_else_ends() -> None:
    said = Say(text="1"), Say(text="1", others=("1", "2")), Say(text="1", others=("2",))
    async with Editor.run("x = |\n", *said) as editor:
        assert await editor.command(FILL, position=editor.cursor) == DONE
        assert await editor.command(NEXT) == DONE
        assert editor.text == "x = 2\n"
        before = len(fills(editor.client))
        assert await editor.command(NEXT) == NOTHING_ELSE
        assert editor.text == "x = 2\n"
        assert len(fills(editor.client)) - before == 3


async def test_a_rewrite_never_offers_what_stands_there() -> None:
    async with Editor.run("x = old\n", Say(text="old"), Say(text="old", others=("new",))) as editor:
        assert await editor.command(REWRITE, range=editor.range_of("old")) == DONE
        assert editor.text == "x = new\n"


async def test_the_place_is_followed_through_edits_elsewhere() -> None:
    async with Editor.run("a\nx = |\nb\n", Say(text="1"), Say(text="2")) as editor:
        assert await editor.command(FILL, position=editor.cursor) == DONE
        editor.type("new line 😀\n", at=0)
        editor.type("more", at=editor.text.index("\nb"))
        editor.type("", at=editor.text.index("x"), until=editor.text.index("x") + 2)
        assert editor.text == "new line 😀\na\n= 1more\nb\n"
        assert await editor.command(NEXT) == DONE
        assert editor.text == "new line 😀\na\n= 2more\nb\n"


async def test_a_place_whose_text_was_changed_is_forgotten() -> None:
    async with Editor.run("x = |\n", Say(text="one"), Say(text="two")) as editor:
        assert await editor.command(NEXT) == NEVER
        assert await editor.command(FILL, position=editor.cursor) == DONE
        editor.type("!", at=editor.text.index("ne"))
        assert await editor.command(NEXT) == NEVER
        assert editor.text == "x = o!ne\n"


async def test_an_undone_draft_is_forgotten() -> None:
    async with Editor.run("x = |\n", Say(text="one"), Say(text="two")) as editor:
        assert await editor.command(FILL, position=editor.cursor) == DONE
        editor.type("", at=4, until=7)
        assert await editor.command(NEXT) == NEVER


async def test_a_rewrite_that_was_discarded_can_be_drafted_again() -> None:
    """VS Code's preview was closed with Discard: the old text stands, and another draft is still a rewrite of it."""
    async with Editor.run("x = old\n", Say(text="new"), Say(text="newer")) as editor:
        editor.refuses = True
        await editor.command(REWRITE, range=editor.range_of("old"))
        editor.refuses = False
        editor.type("y\n", at=0)
        assert await editor.command(NEXT) == DONE
        assert editor.text == "y\nx = newer\n"
        assert "changeAnnotations" in editor.edits[-1]


async def test_the_place_is_known_however_the_client_puts_the_edit_in() -> None:
    """Neovim tells only what differs, and several changes one by one."""
    async with Editor.run("x = [a1, b2]\n", Say(text="[a1, c3, b2]"), Say(text="[]")) as editor:
        editor.refuses = True
        await editor.command(REWRITE, range=editor.range_of("[a1, b2]"))
        editor.type("c3, ", at=editor.text.index("b2"))
        assert editor.text == "x = [a1, c3, b2]\n"
        editor.refuses = False
        assert await editor.command(NEXT) == DONE
        assert editor.text == "x = []\n"


async def test_brackets_that_stood_there_are_given_in_another_draft_too() -> None:
    """A draft repeats the bracket right of it and goes on: the bracket is no part of what may be taken away."""
    async with Editor.run("f(|)\n", Say(text="1) + g(2"), Say(text="3")) as editor:
        assert await editor.command(FILL, position=editor.cursor) == DONE
        assert editor.text == "f(1) + g(2)\n"
        assert await editor.command(NEXT) == DONE
        assert editor.text == "f(3)\n"


async def test_elsewhere_it_is_ghost_text_that_is_asked_for_anew() -> None:
    text = "x = |\n\n\ny = \n"
    async with Editor.run(text, Say(text="1"), Say(text="2"), Say(text="3")) as editor:
        assert await editor.command(FILL, position=editor.cursor) == DONE
        there = {"line": 3, "character": 4}
        assert texts(await editor.client.inline(editor.uri, 3, 4)) == ["2"]
        result = await editor.command(NEXT, position=there)
        assert result == {"applied": False, "message": "", "numHoles": 0, "inline": True}
        assert "3" in texts(await editor.client.inline(editor.uri, 3, 4, kind=1))
        assert await editor.command(NEXT, position={"line": 0, "character": 0}) == DONE
