"""Holes as commands: found by syntax, asked for together where they are near, put in together."""

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
async def test_holes_that_are_near_are_asked_for_together_and_put_in_with_one_edit(
    capabilities: Message, eol: str
) -> None:
    text = ("s = '😀'\n" + TEXT).replace("\n", eol)
    said = Say(text="return x\n    # two", more=("return y",)), Say(text="a", more=("b",))
    async with Editor.run(text, *said, capabilities=capabilities) as editor:
        assert await editor.command(FILL_HOLES) == done(2)
        expected = text.replace("pass", f"return x{eol}    # two").replace("raise NotImplementedError", "return y")
        assert editor.text == expected
        assert len(editor.edits) == 1
        (asked,) = fills(editor.client)
        assert asked["prefix"] == "s = '😀'\ndef f(x):\n    "
        assert asked["between"] == ["\n\n\ndef g(y):\n    "]
        assert asked["suffix"] == "\n"
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
    async with Editor.run(TEXT, Say(text="", more=("return y",))) as editor:
        left = {"message": "for 1 of 2 holes the model has found nothing that fits"}
        assert await editor.command(FILL_HOLES) == done(1) | left
        assert editor.text == TEXT.replace("raise NotImplementedError", "return y")


async def test_a_hole_for_which_nothing_new_is_found_keeps_its_draft_and_is_not_forgotten() -> None:
    said = Say(text="return x", more=("return y",)), Say(text="", more=("y += 1",)), Say(text="x += 1", more=("",))
    async with Editor.run(TEXT, *said) as editor:
        for command, first, second in (
            (FILL_HOLES, "return x", "return y"),
            (NEXT, "return x", "y += 1"),
            (NEXT, "x += 1", "y += 1"),
        ):
            assert await editor.command(command) == done(2)
            assert editor.text == TEXT.replace("pass", first).replace("raise NotImplementedError", second)


async def test_far_holes_are_asked_for_one_after_the_other_and_see_what_was_put_in_before() -> None:
    text = TEXT.replace("def g", "# much is said here\n" * 200 + "def g")
    async with Editor.run(text, Say(text="return x"), Say(text="return y")) as editor:
        assert await editor.command(FILL_HOLES) == done(2)
        assert editor.text == text.replace("pass", "return x").replace("raise NotImplementedError", "return y")
        first, second = fills(editor.client)
        assert first["between"] == second["between"] == []
        assert "raise NotImplementedError" in first["suffix"]
        assert "def f(x):\n    return x\n" in second["prefix"]


async def test_of_a_very_long_document_it_is_said_how_far_it_was_looked_at() -> None:
    text = "x = 'a line of a table'\n\n" * 50_000 + TEXT
    async with Editor.run(text, Say(text="return x")) as editor:
        result = await editor.command(FILL_HOLES)
        assert result["message"].startswith("there is no hole in this document so far: only the first ")
        assert result["message"].endswith(" lines were looked at")


async def test_a_second_function_in_a_long_document_is_not_out_of_reach() -> None:
    """Only the first 200,000 characters were looked at, and nobody was told."""
    text = TEXT.partition("\n\n\n")[0] + "\n\n" + "x = 'a line of a table'\n\n" * 10_000 + TEXT.partition("\n\n\n")[2]
    async with Editor.run(text, Say(text="return x"), Say(text="return y")) as editor:
        assert await editor.command(FILL_HOLES) == done(2)
        assert editor.text == text.replace("pass", "return x").replace("raise NotImplementedError", "return y")


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
