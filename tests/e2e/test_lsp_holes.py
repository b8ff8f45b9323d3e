"""Holes as commands: found by syntax, filled one after the other, put in together."""

from __future__ import annotations

import pytest

from support.editor import DRAWING, EMACS, HELIX, NEOVIM_WHOLE, VSCODE, Editor, with_all
from support.lsp_client import Message
from support.lsp_session import fills
from support.scripted_server import Say

FILL_HOLE, FILL_HOLES, NEXT = "midfill.fillHole", "midfill.fillHoles", "midfill.nextDraft"
TEXT = "def f(x):\n    pass\n\n\ndef g(y):\n    raise NotImplementedError\n"


def done(num_holes: int) -> Message:
    return {"applied": True, "message": "", "numHoles": num_holes}


@pytest.mark.parametrize("capabilities", [VSCODE, NEOVIM_WHOLE, HELIX, EMACS])
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
async def test_all_holes_in_one_edit_and_each_sees_those_before_it(capabilities: Message, eol: str) -> None:
    text = ("s = '😀'\n" + TEXT).replace("\n", eol)
    said = Say(text="return x\n    # two"), Say(text="return y"), Say(text="a"), Say(text="b")
    async with Editor.run(text, *said, capabilities=capabilities) as editor:
        assert await editor.command(FILL_HOLES) == done(2)
        expected = text.replace("pass", f"return x{eol}    # two").replace("raise NotImplementedError", "return y")
        assert editor.text == expected
        assert len(editor.edits) == 1
        first, second = fills(editor.client)
        assert "raise NotImplementedError" in first["suffix"]
        assert "return x\n    # two\n" in second["prefix"]
        assert await editor.command(NEXT) == done(2)
        assert editor.text == text.replace("pass", "a").replace("raise NotImplementedError", "b")


async def test_the_holes_of_a_range_and_one_hole() -> None:
    async with Editor.run(TEXT, Say(text="return y"), Say(text="return x")) as editor:
        half = editor.range(TEXT.index("def g"), len(TEXT))
        assert await editor.command(FILL_HOLES, range=half) == done(1)
        assert editor.text == TEXT.replace("raise NotImplementedError", "return y")
        assert await editor.command(FILL_HOLE, position={"line": 1, "character": 5}) == done(1)
        assert editor.text == "def f(x):\n    return x\n\n\ndef g(y):\n    return y\n"


async def test_a_hole_for_which_nothing_is_found_stays() -> None:
    async with Editor.run(TEXT, Say(text=""), Say(text="return y")) as editor:
        assert await editor.command(FILL_HOLES) == done(1)
        assert editor.text == TEXT.replace("raise NotImplementedError", "return y")


async def test_where_there_is_no_hole() -> None:
    async with Editor.run("x = 1\n", Say(text="2")) as editor:
        for command, argument, message in (
            (FILL_HOLES, {}, "there is no hole in this document"),
            (FILL_HOLES, {"range": editor.range(0, 5)}, "there is no hole here"),
            (FILL_HOLE, {"range": editor.range(0, 5)}, "there is no hole here"),
            (FILL_HOLE, {}, "a position or a range is needed"),
        ):
            expected = {"applied": False, "message": message, "numHoles": 0}
            assert await editor.command(command, **argument) == expected
        assert fills(editor.client) == []


async def test_each_hole_has_a_drawing_of_its_own() -> None:
    async with Editor.run(TEXT, Say(text="return x"), capabilities=with_all(VSCODE, DRAWING)) as editor:
        assert await editor.command(FILL_HOLES) == done(2)
        drafts = [message["params"] for message in editor.client.messages if message.get("method") == "midfill/draft"]
        tokens = sorted({draft["token"] for draft in drafts})
        assert [token.rsplit("/")[-1] for token in tokens] == ["0", "1"]
        for token in tokens:
            assert [draft for draft in drafts if draft["token"] == token][-1]["isDone"] is True


async def test_what_breaks_the_syntax_is_not_taken_if_there_is_better() -> None:
    async with Editor.run("def f(x):\n    pass\n", Say(text="return (x", others=("return x",))) as editor:
        assert await editor.command(FILL_HOLE, position={"line": 1, "character": 4}) == done(1)
        assert editor.text == "def f(x):\n    return x\n"
