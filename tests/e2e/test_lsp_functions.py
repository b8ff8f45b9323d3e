"""A test for a function, and its docstring, as commands."""

from __future__ import annotations

import pytest

from support.editor import VSCODE, Editor
from support.lsp_client import LspClient
from support.lsp_session import AT_ONCE, fills
from support.scripted_server import Say, scripted_server

WRITE_TEST, DOCSTRING, NEXT = "midfill.writeTest", "midfill.docstring", "midfill.nextDraft"
DONE = {"applied": True, "message": "", "numHoles": 1}
AREA = "def area(r):\n    return 3 * r * r\n"


async def test_a_test_is_begun_at_the_end_and_its_body_is_filled() -> None:
    async with Editor.run(
        AREA + "\nx = 1\n", Say(text="assert area(1) == 3"), Say(text="assert not area(0)")
    ) as editor:
        assert await editor.command(WRITE_TEST, position={"line": 1, "character": 0}) == DONE
        expected = AREA + "\nx = 1\n\n\ndef test_area():\n    {}\n"
        assert editor.text == expected.format("assert area(1) == 3")
        (request,) = fills(editor.client)
        assert request["prefix"] == AREA + "\nx = 1\n\n\ndef test_area():\n    "
        assert request["mode"] == "block"
        assert await editor.command(NEXT) == DONE
        assert editor.text == expected.format("assert not area(0)")


async def test_a_function_far_above_is_read_right_before_its_test() -> None:
    text = AREA + "\n" + "".join(f"x{number} = {number}\n" for number in range(500))
    async with Editor.run(text, Say(text="assert area(1) == 3")) as editor:
        assert await editor.command(WRITE_TEST, position={"line": 0, "character": 0}) == DONE
        assert editor.text == text + "\n\ndef test_area():\n    assert area(1) == 3\n"
        assert fills(editor.client)[0]["prefix"].endswith("\n" + AREA + "\n\ndef test_area():\n    ")


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
async def test_a_docstring_is_begun_or_gone_on_with(eol: str) -> None:
    text = AREA.replace("\n", eol)
    async with Editor.run(text, Say(text="The area."), Say(text="Of a circle.")) as editor:
        assert await editor.command(DOCSTRING, position={"line": 1, "character": 4}) == DONE
        assert editor.text == text.replace(f":{eol}", f':{eol}    """The area."""{eol}')
        assert await editor.command(DOCSTRING, position={"line": 1, "character": 4}) == DONE
        written = f'    """The area.{eol}{eol}    Of a circle.{eol}    """{eol}'
        assert editor.text == text.replace(f":{eol}", f":{eol}{written}")
        assert [request["suffix"].partition("\n")[0] for request in fills(editor.client)] == ['"""', ""]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (WRITE_TEST, "there is no function here"),
        (DOCSTRING, "there is no function or class here"),
    ],
)
async def test_where_there_is_no_function(command: str, message: str) -> None:
    async with Editor.run("x = 1\n", Say(text="2")) as editor:
        result = await editor.command(command, position={"line": 0, "character": 0})
        assert result == {"applied": False, "message": message, "numHoles": 0}
        assert (await editor.command(command))["message"] == "a position is needed"


async def test_in_other_languages() -> None:
    script = "export function area(r) {\n  return 3 * r * r;\n}\n"
    uri = "file:///work/area.js"
    async with LspClient.run(scripted_server(Say(text="The area."), Say(text="expect(area(1)).toBe(3);"))) as client:
        await client.initialize(VSCODE, initializationOptions=AT_ONCE)
        client.open(uri, script, "javascript")
        await client.status(kind="Normal", busy=False)
        editor = Editor(client, script, 0, "utf-16", uri)
        assert await editor.command(DOCSTRING, position={"line": 1, "character": 0}) == DONE
        assert editor.text == "/** The area. */\n" + script
        assert await editor.command(WRITE_TEST, position={"line": 2, "character": 0}) == DONE
        assert editor.text.endswith('}\n\ntest("area", () => {\n  expect(area(1)).toBe(3);\n});\n')
