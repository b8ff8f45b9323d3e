"""The editor's menu: what is in it, and what choosing from it does in clients of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from support.editor import BARE, EMACS, HELIX, NEOVIM_WHOLE, VSCODE, Editor, with_all
from support.lsp_client import Message
from support.lsp_session import fills, messages_to_user
from support.scripted_server import Say

REWRITE, FILL, AGAIN = "Rewrite with midfill", "Fill here", "Another draft"
TEST, DOCSTRING = "Write a test for this function", "Complete the docstring"
HOLE, HOLES_HERE = "Fill this hole", "Fill all holes in this function"
HOLES_IN_FILE = "Fill all holes in this file"
TWO_HOLES = "def f(x):\n    if x:\n        |pass\n    else:\n        raise NotImplementedError\n\ndef g():\n    pass\n"
AREA = "def area(r):\n    return 3 * r * r\n\nx = 1\n"
LITERALS_ONLY = with_all(VSCODE, {"textDocument": EMACS["textDocument"]})
COMMANDS_ONLY = with_all(BARE, {"workspace": {"applyEdit": True}})
AUTOMATIC, INVOKED = 2, 1


def titles(actions: list[Message]) -> list[str]:
    return [action["title"] for action in actions]


@pytest.mark.parametrize("capabilities", [VSCODE, NEOVIM_WHOLE, HELIX, EMACS, LITERALS_ONLY, COMMANDS_ONLY])
async def test_choosing_to_rewrite_does_so_in_clients_of_every_kind(capabilities: Message) -> None:
    async with Editor.run(AREA, Say(text="return pi * r ** 2"), capabilities=capabilities) as editor:
        actions = await editor.actions(editor.range_of("    return 3 * r * r\n"))
        assert titles(actions) == [REWRITE, TEST, DOCSTRING]
        assert fills(editor.client) == []
        assert all("edit" not in action for action in actions)
        await editor.choose(actions[0])
        assert editor.text == AREA.replace("return 3 * r * r", "return pi * r ** 2")
        assert len(editor.edits) == 1


@pytest.mark.parametrize(
    ("capabilities", "shape"),
    [
        (VSCODE, {"title", "kind", "data"}),
        (NEOVIM_WHOLE, {"title", "kind", "data"}),
        (HELIX, {"title", "kind", "data"}),
        (EMACS, {"title", "kind", "command"}),
        (BARE, {"title", "command", "arguments"}),
    ],
)
async def test_actions_have_the_shape_that_a_client_can_take(capabilities: Message, shape: set[str]) -> None:
    async with Editor.run(AREA, Say(text="1"), capabilities=capabilities) as editor:
        for action in await editor.actions(editor.range_of("r * r")):
            assert set(action) == shape


@pytest.mark.parametrize(
    ("marked", "kind", "expected"),
    [
        ("x = |\n", INVOKED, [FILL]),
        ("x = |1\n", INVOKED, []),
        ("x = |\n", AUTOMATIC, [FILL]),
        ("def f(x):|\n    pass\n", AUTOMATIC, [FILL, TEST, DOCSTRING]),
        ("def f(x):\n    |pass\n", AUTOMATIC, [HOLE]),
        ("def f(x):\n    |pass\n", INVOKED, [HOLE, TEST, DOCSTRING]),
        ("def f(x):\n    |return x\n", AUTOMATIC, []),
        ("def f(x):\n    |return x\n", INVOKED, [TEST, DOCSTRING]),
        (TWO_HOLES, AUTOMATIC, [HOLE, HOLES_HERE, HOLES_IN_FILE]),
        ("x = |1\ndef g():\n    pass\n", INVOKED, [HOLES_IN_FILE]),
        ("|", INVOKED, [FILL]),
    ],
)
async def test_what_is_in_the_menu_and_a_light_bulb_is_quiet(marked: str, kind: int, expected: list[str]) -> None:
    async with Editor.run(marked, Say(text="1")) as editor:
        span = {"start": editor.cursor, "end": editor.cursor}
        assert titles(await editor.actions(span, triggerKind=kind)) == expected
        assert fills(editor.client) == []


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (["refactor"], [REWRITE, TEST, DOCSTRING]),
        (["refactor.rewrite"], [REWRITE, DOCSTRING]),
        (["refactor.rewrite.foo"], []),
        (["refactor.re"], []),
        (["quickfix", "source.organizeImports"], []),
        (["", "quickfix"], [REWRITE, TEST, DOCSTRING]),
        ([], [REWRITE, TEST, DOCSTRING]),
    ],
)
async def test_only_the_kinds_that_are_wanted(only: list[str], expected: list[str]) -> None:
    async with Editor.run(AREA, Say(text="1")) as editor:
        assert titles(await editor.actions(editor.range_of("r * r"), only=only)) == expected


async def test_another_draft_is_offered_where_something_was_filled() -> None:
    async with Editor.run("x = |\ny = 1\n", Say(text="1"), Say(text="2")) as editor:
        (fill,) = await editor.actions({"start": editor.cursor, "end": editor.cursor})
        await editor.choose(fill)
        assert editor.text == "x = 1\ny = 1\n"
        (fill, again) = await editor.actions(editor.range(5, 5))
        assert titles([fill, again]) == [FILL, AGAIN]
        await editor.choose(again)
        assert editor.text == "x = 2\ny = 1\n"
        assert titles(await editor.actions(editor.range(8, 8))) == []


@pytest.mark.parametrize("capabilities", [VSCODE, EMACS, COMMANDS_ONLY])
@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (
            HOLE,
            "def f(x):\n    if x:\n        one()\n    else:\n        raise NotImplementedError\n\ndef g():\n    pass\n",
        ),
        (HOLES_HERE, "def f(x):\n    if x:\n        one()\n    else:\n        two()\n\ndef g():\n    pass\n"),
        (HOLES_IN_FILE, "def f(x):\n    if x:\n        one()\n    else:\n        two()\n\ndef g():\n    three()\n"),
    ],
)
async def test_holes_are_filled_in_one_edit(capabilities: Message, title: str, expected: str) -> None:
    said = Say(text="one()", more=("two()", "three()"))
    async with Editor.run(TWO_HOLES, said, capabilities=capabilities) as editor:
        actions = await editor.actions({"start": editor.cursor, "end": editor.cursor})
        (action,) = [action for action in actions if action["title"] == title]
        await editor.choose(action)
        assert editor.text == expected
        assert len(editor.edits) == 1


async def test_a_rewrite_that_is_resolved_asks_for_confirmation_and_knows_its_version() -> None:
    async with Editor.run("x = old\n", Say(text="new")) as editor:
        (action,) = await editor.actions(editor.range_of("old"))
        resolved = await editor.client.request("codeAction/resolve", action)
        assert resolved["edit"]["changeAnnotations"]["midfill"] == {
            "label": REWRITE,
            "needsConfirmation": True,
        }
        editor.type("y\n", at=0)
        again = await editor.client.request("codeAction/resolve", action)
        assert "edit" not in again


@pytest.mark.parametrize("said", [Say(text=""), Say(error="ResourceError"), Say(error="RuntimeError")])
async def test_what_finds_nothing_comes_back_without_an_edit(said: Say) -> None:
    async with Editor.run("x = old\n", said) as editor:
        (action,) = await editor.actions(editor.range_of("old"))
        assert await editor.client.request("codeAction/resolve", action) == action
        assert messages_to_user(editor.client) == []


async def test_cancelling_a_resolve_stops_the_engine() -> None:
    async with Editor.run("x = old\n", Say(text="new", hold_before=2)) as editor:
        (action,) = await editor.actions(editor.range_of("old"))
        asked = editor.client.ask("codeAction/resolve", action)
        await editor.client.event(lambda event: event["event"] == "step")
        editor.client.notify("$/cancelRequest", {"id": asked})
        assert await editor.client.result(asked) == action
        await editor.client.event(lambda event: event["event"] == "cancelled")


@pytest.mark.parametrize(
    "data",
    [None, 5, [], {}, {"command": "rm"}, {"command": "midfill.fill"}, {"command": ["midfill.fill"], "argument": {}}],
)
async def test_an_action_of_somebody_else_comes_back_as_it_is(data: Any) -> None:
    async with Editor.run("x = old\n", Say(text="new")) as editor:
        action = {"title": "Something", "kind": "quickfix"} | ({} if data is None else {"data": data})
        assert await editor.client.request("codeAction/resolve", action) == action
        assert fills(editor.client) == []


async def test_a_file_of_megabytes_is_not_read_for_a_light_bulb() -> None:
    """The test is that it is answered in time at all: every one of these looks at a few lines only."""
    text = "".join(f"value_{number} = {number}\n" for number in range(200_000))
    async with Editor.run(text, Say(text="1")) as editor:
        asked = [
            editor.client.ask(
                "textDocument/codeAction",
                {
                    "textDocument": {"uri": editor.uri},
                    "range": {"start": {"line": 199_000, "character": 3}, "end": {"line": 199_000, "character": 3}},
                    "context": {"diagnostics": [], "triggerKind": AUTOMATIC},
                },
            )
            for _ in range(500)
        ]
        for request_id in asked:
            assert await editor.client.result(request_id) == []
