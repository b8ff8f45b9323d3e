"""What syntax decides about ghost text, over stdio against the real server around a scripted engine."""

from __future__ import annotations

import pytest

from support.editor import Editor
from support.lsp_client import Message, applied
from support.lsp_session import URI, editing, fills, place, texts
from support.scripted_server import Say


async def test_what_breaks_the_text_is_not_shown_unasked() -> None:
    """A suggestion that leaves the file broken costs more than it gives."""
    async with editing("x = f()\n", Say(text="a b")) as client:
        assert texts(await client.inline(URI, 0, 6)) == []


async def test_who_asks_gets_what_breaks_the_text_last() -> None:
    async with editing("x = f()\n", Say(text="a b", others=("a, b",))) as client:
        assert texts(await client.inline(URI, 0, 6, kind=1)) == ["a, b", "a b"]


@pytest.mark.parametrize(
    ("marked", "mode"),
    [
        ("x = f(|)\n", "line"),
        ("x = {'a':|}\n", "line"),
        ("x = {\n    'a':|\n}\n", "line"),
        ("x = a + |\n", "auto"),
        ("x = |y\n", "line"),
        ("def f(x):|\n", "block"),
        ("def f(x):\n    |\n\n", "auto"),
        ("# so: the|\n", "line"),
        ("s = 'the |'\n", "line"),
    ],
)
async def test_syntax_says_how_far_a_suggestion_reaches(marked: str, mode: str) -> None:
    """`auto` is left to the engine, which offers a block on a blank line and else the line."""
    text, line, character = place(marked)
    async with editing(text, Say(text="1")) as client:
        await client.inline(URI, line, character)
        assert [asked["mode"] for asked in fills(client)] == [mode]


async def test_a_body_in_braces_that_the_editor_closed() -> None:
    """The editor has put `}` right of the cursor: the body comes all the same, and the brace is not doubled."""
    text, line, character = place("function f() {|}\n")
    said = Say(text="\n  return 1;\n}")
    async with editing(text, said) as client:
        client.open("file:///work/a.js", text, language="javascript")
        (item,) = (await client.inline("file:///work/a.js", line, character))["items"]
        assert fills(client)[0]["mode"] == "block"
        assert applied(text, item) == "function f() {\n  return 1;\n}\n"


@pytest.mark.parametrize(
    ("setting", "marked"),
    [
        ({"comments": "off"}, "# the quick |\n"),
        ({"comments": "off"}, "x = 1  # the quick |\n"),
        ({"strings": "off"}, 'x = "hello |"\n'),
        ({"strings": "off"}, 'x = "hello |\n'),
        ({"blankLines": False}, "def f():\n    |\n"),
        ({"blankLines": False}, "x = 1\n|\n"),
    ],
)
async def test_a_quiet_place_is_quiet_until_somebody_asks(setting: Message, marked: str) -> None:
    """Rows 18 and 24 (continue#2987, vscode#313003): ghost text while writing prose, and Tab meant as indentation."""
    text, line, character = place(marked)
    async with editing(text, Say(text="brown fox"), options=setting) as client:
        assert texts(await client.inline(URI, line, character)) == []
        assert fills(client) == []
        assert texts(await client.inline(URI, line, character, kind=1)) == ["brown fox"]


@pytest.mark.parametrize(("told", "mode"), [("single-line", "line"), ("on", "auto")])
async def test_prose_goes_no_further_than_its_line_unless_the_user_says_so(told: str, mode: str) -> None:
    async with editing("# the quick \n", Say(text="brown fox"), options={"comments": told}) as client:
        assert texts(await client.inline(URI, 0, 12)) == ["brown fox"]
        assert fills(client)[0]["mode"] == mode


async def test_a_quiet_kind_of_place_says_nothing_of_others() -> None:
    """A `#` in a string is no comment, and what a comment quotes is no string."""
    async with editing("x = '#' + \n# 'a' \n", Say(text="y"), options={"comments": "off"}) as client:
        assert texts(await client.inline(URI, 0, 10)) == ["y"]
        assert texts(await client.inline(URI, 1, 6)) == []


@pytest.mark.parametrize("said", ["", " ", "\n", "\n    \n", ")", "return total"])
async def test_nothing_that_is_blank_or_there_already(said: str) -> None:
    """Rows 10, 11 and 28 (continue#4721, tabby#4115): empty items flashed, and the line below came twice."""
    async with editing("def f():\n    \n    return total\n", Say(text=said)) as client:
        assert texts(await client.inline(URI, 1, 4)) == []


async def test_a_suggestion_ends_before_the_line_below() -> None:
    """Row 11 (continue#4721)."""
    said = Say(text="total += x\n    return total")
    async with editing("def f():\n    \n    return total\n", said) as client:
        assert texts(await client.inline(URI, 1, 4)) == ["total += x"]


@pytest.mark.parametrize(
    ("language", "marked", "said", "expected"),
    [
        ("markdown", "| a | b |\n|---|---|\n¦\n", "| 1 | 2 | 3 |", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
        ("html", "<ul>\n  <li>a</¦\n</ul>\n", "b>", "<ul>\n  <li>a</li>\n</ul>\n"),
        ("json", '{\n  "a": ¦\n  "b": 2\n}\n', "1", '{\n  "a": 1,\n  "b": 2\n}\n'),
    ],
)
async def test_structure_that_needs_both_sides(language: str, marked: str, said: str, expected: str) -> None:
    """Cells of a table, the name of a closing tag, a comma: right whatever the model says of them."""
    uri = "file:///work/a.txt"
    before, after = marked.split("¦")
    text, line, character = before + after, before.count("\n"), len(before.rpartition("\n")[2])
    async with editing("", Say(text=said)) as client:
        client.open(uri, text, language=language)
        (item,) = (await client.inline(uri, line, character))["items"]
        assert applied(text, item) == expected


async def test_an_empty_column_is_filled_in_one_edit() -> None:
    """All empty cells of the column are asked for, and the pipes stay in place."""
    text = "| a | b    |\n|---|------|\n| 1 |      |\n| 2 |      |\n"
    async with Editor.run("|" + text, Say(text="x", more=("yy",))) as editor:
        at = editor.position(text.index("      |\n| 2") + 1)
        titles = [action["title"] for action in await editor.actions({"start": at, "end": at})]
        assert titles[0] == "Fill this column"
        result = await editor.command("midfill.fill", position=at)
        assert result == {"applied": True, "message": "", "numHoles": 2}
        assert editor.text == "| a | b    |\n|---|------|\n| 1 | x    |\n| 2 | yy   |\n"
        assert len(editor.edits) == 1
