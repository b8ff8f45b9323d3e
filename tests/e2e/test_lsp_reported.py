"""Faults that users reported of other tools, each told as a text: the cursor, what the model says, what is there then.

Over stdio against the real executable; what the server answers is applied as a client would apply it.
"""

from __future__ import annotations

from typing import Any

import pytest

from support.lsp_client import applied
from support.lsp_session import URI, editing, fills, place, texts
from support.scripted_server import Say

HELIX: dict[str, Any] = {"general": {"positionEncodings": ["utf-8"]}, "textDocument": {}}


async def accepted(marked: str, said: str) -> str:
    """The text after the one suggestion has been accepted; as it was if there is none."""
    text, line, character = place(marked)
    async with editing(text, Say(text=said)) as client:
        items = (await client.inline(URI, line, character))["items"]
        return applied(text, items[0]) if items else text


async def test_accepting_right_after_a_predicted_letter_does_not_double_it() -> None:
    """Row 1 (neovim#36529, copilot.lua#259): the item was computed for `foob`, `a` was typed, and then accepted."""
    async with editing("foob\n", Say(text="ar")) as client:
        (old,) = (await client.inline(URI, 0, 4))["items"]
        client.change(URI, 2, "a", at=(0, 4, 0, 4))
        (new,) = (await client.inline(URI, 0, 5))["items"]
        assert (old["insertText"], applied("fooba\n", new)) == ("ar", "foobar\n")
        assert len(fills(client)) == 1


@pytest.mark.parametrize("accept", ["1", "1,", "1,\n", "1,\n    2"])
async def test_the_rest_of_a_suggestion_is_there_after_a_word_or_a_line_of_it(accept: str) -> None:
    """VS Code and Neovim take words and lines of a suggestion without a word to the server, and ask again."""
    said = "1,\n    2,\n"
    async with editing("x = f(\n", Say(text=said), Say(text="never")) as client:
        assert texts(await client.inline(URI, 0, 6)) == [said.rstrip()]
        client.change(URI, 2, accept, at=(0, 6, 0, 6))
        line, column = accept.count("\n"), len(accept.rpartition("\n")[2]) + (0 if "\n" in accept else 6)
        assert texts(await client.inline(URI, line, column)) == [said.rstrip()[len(accept) :]]
        assert len(fills(client)) == 1


async def test_an_item_for_a_word_that_was_typed_on_begins_with_that_word() -> None:
    """Row 2 (minuet#149): the item for `r` replaced `rev`, and letters were lost."""
    async with editing("r\n", Say(text="eversed(x)"), capabilities=HELIX) as client:
        asked = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 1}}
        await client.request("textDocument/completion", asked)
        client.change(URI, 2, "ev", at=(0, 1, 0, 1))
        result = await client.request("textDocument/completion", asked | {"position": {"line": 0, "character": 3}})
        (item,) = result["items"]
        assert result["isIncomplete"] is True
        assert item["textEdit"] == {
            "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}},
            "newText": "reversed(x)",
        }
        assert item["filterText"].startswith("rev")
        assert len(fills(client)) == 1


async def test_an_item_shows_what_it_is_and_how_much_and_tells_when_it_was_taken() -> None:
    async with editing("r\n", Say(text="un(\n    x,\n)"), capabilities=HELIX) as client:
        asked = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 1}}
        (item,) = (await client.request("textDocument/completion", asked))["items"]
        assert (item["label"], item["detail"], item["kind"]) == ("run(", "midfill, 2 more lines", 15)
        assert item["documentation"]["value"] == item["textEdit"]["newText"] == "run(\n    x,\n)"
        assert await client.request("workspace/executeCommand", item["command"]) is None
        told = await client.request("workspace/executeCommand", {"command": "midfill.stats"})
        assert (told["shown"], told["accepted"]) == (1, 1)


@pytest.mark.parametrize(
    ("marked", "said", "expected"),
    [
        ("print(foo|)\n", ", bar)", "print(foo, bar)\n"),
        ("foo(bar(|))\n", "x))", "foo(bar(x))\n"),
        ("foo(bar(|))\n", "x) + y", "foo(bar(x) + y)\n"),
        ("a = {b[|]}\n", "0]: 1}", "a = {b[0]: 1}\n"),
        ('print("|")\n', 'hello")', 'print("hello")\n'),
        ("x = foo(|)\n", "\n    a,\n    b,\n)", "x = foo(\n    a,\n    b,\n)\n"),
    ],
)
async def test_a_closing_bracket_is_never_doubled(marked: str, said: str, expected: str) -> None:
    """Row 9 (tabnine-vscode#1078): the editor has closed the bracket, and so does the model."""
    assert await accepted(marked, said) == expected


@pytest.mark.parametrize(("marked", "said"), [("(|)\n", ")"), ("[|]\n", "]"), ("f(|)\n", "\n)"), ('"|"\n', '"')])
async def test_nothing_begins_with_what_follows(marked: str, said: str) -> None:
    """Row 10 (fittencode.nvim#127): the text after the cursor was put in front of the suggestion."""
    assert await accepted(marked, said) == marked.replace("|", "")


@pytest.mark.parametrize(
    ("marked", "said", "expected"),
    [
        (
            "def f():\n    |\n    return total\n",
            "total += x\n    return total",
            "def f():\n    total += x\n    return total\n",
        ),
        (
            "def f():\n    |\n\n    return total\n",
            "total += x\n\n    return total",
            "def f():\n    total += x\n\n    return total\n",
        ),
        ("def f():\n    |\n    return total\n", "return total", "def f():\n    \n    return total\n"),
        ("x = | + 1\n", "y + 1\nz = 3", "x = y + 1\n"),
        ("x = |\ny = 2\n", "1\ny = 2\nz = 3", "x = 1\ny = 2\n"),
        ("if (x) {|\n}\n", "\n  y()\n}", "if (x) {\n  y()\n}\n"),
    ],
)
async def test_what_is_there_already_is_not_offered_again(marked: str, said: str, expected: str) -> None:
    """Row 11 (continue#4721): suggestions repeated the lines below, or the rest of the line."""
    assert await accepted(marked, said) == expected


@pytest.mark.parametrize(
    ("marked", "said", "expected"),
    [
        ("    if x:\n        |\n", "        a\n        b", "    if x:\n        a\n        b\n"),
        ("    if x:\n        |\n", "a\n        b", "    if x:\n        a\n        b\n"),
        ("    if x:\n        |\n", "a\n\tb", "    if x:\n        a\n    b\n"),
        ("    if x:\n|\n", "        a\n        b", "    if x:\n        a\n        b\n"),
        ("\tif x:\n\t\t|\n", "\t\ta\n\t\tb", "\tif x:\n\t\ta\n\t\tb\n"),
        ("\tif x:\n\t\t|\n", "a\n        b", "\tif x:\n\t\ta\n\t\tb\n"),
    ],
)
async def test_a_blank_line_that_is_indented_already_is_not_indented_again(
    marked: str, said: str, expected: str
) -> None:
    """Row 12 (llama.vscode#72, neovim#32972): after Enter the first line was indented twice, others in another unit."""
    assert await accepted(marked, said) == expected
