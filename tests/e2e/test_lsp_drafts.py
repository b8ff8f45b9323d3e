"""What is to be seen while something is filled: drafts, for clients that draw them, and progress."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from support.editor import DRAWING, EMACS, EXECUTE, HELIX, VSCODE, Editor, with_all
from support.lsp_client import LspClient, Message
from support.scripted_server import Say

FILL, REWRITE, WRITE_TEST = "midfill.fill", "midfill.rewrite", "midfill.writeTest"
WATCHING = with_all(VSCODE, DRAWING)


def drafts(client: LspClient) -> list[Message]:
    return [message["params"] for message in client.messages if message.get("method") == "midfill/draft"]


def progress(client: LspClient) -> list[Message]:
    return [message["params"] for message in client.messages if message.get("method") == "$/progress"]


def created(client: LspClient) -> list[str]:
    method = "window/workDoneProgress/create"
    return [message["params"]["token"] for message in client.messages if message.get("method") == method]


async def test_drafts_are_in_order_and_the_last_removes_the_drawing() -> None:
    async with Editor.run("x = old\n", Say(text="a b c d", num_steps=4), capabilities=WATCHING) as editor:
        span = editor.range_of("old")
        await editor.command(FILL, range=span)
        *shown, last = drafts(editor.client)
        assert shown
        assert [draft["step"] for draft in shown] == sorted({draft["step"] for draft in shown})
        assert last == {**last, "isDone": True, "tokens": [], "text": ""}
        for draft in shown:
            assert draft["isDone"] is False
            assert (draft["range"], draft["token"]) == (span, last["token"])
            assert draft["textDocument"] == {"uri": editor.uri, "version": 1}
            assert draft["text"] == "".join(token["text"] for token in draft["tokens"])


async def test_the_drawing_is_removed_before_the_edit_is_made() -> None:
    async with Editor.run("x = old\n", Say(text="new"), capabilities=WATCHING) as editor:
        await editor.command(FILL, range=editor.range_of("old"))
        methods = [message.get("method") for message in editor.client.messages]
        assert len(methods) - 1 - methods[::-1].index("midfill/draft") < methods.index("workspace/applyEdit")


@pytest.mark.parametrize("how", ["cancel", "change", "error"])
async def test_the_drawing_is_removed_whatever_happens(how: str) -> None:
    said = Say(text="a b", hold_before=2) if how != "error" else Say(text="a b", error="ResourceError")
    async with Editor.run("x = old\n", said, capabilities=WATCHING) as editor:
        asked = editor.ask_command(FILL, range=editor.range_of("old"))
        await editor.client.message(lambda message: message.get("method") == "midfill/draft")
        if how == "cancel":
            editor.client.notify("$/cancelRequest", {"id": asked})
        elif how == "change":
            editor.type("y", at=0)
        assert (await editor.client.result(asked))["applied"] is False
        assert [draft["isDone"] for draft in drafts(editor.client)] == [False, True]


@pytest.mark.parametrize("capabilities", [VSCODE, HELIX, EMACS])
async def test_clients_that_do_not_draw_are_not_told(capabilities: Message) -> None:
    async with Editor.run("x = old\n", Say(text="new"), capabilities=capabilities) as editor:
        await editor.command(FILL, range=editor.range_of("old"))
        assert drafts(editor.client) == []


async def test_an_action_that_is_resolved_is_drawn_too() -> None:
    async with Editor.run("x = old\n", Say(text="new"), capabilities=WATCHING) as editor:
        await editor.choose((await editor.actions(editor.range_of("old")))[0])
        assert [draft["isDone"] for draft in drafts(editor.client)][-1] is True
        assert len(drafts(editor.client)) > 1


async def test_what_is_given_in_a_hole_is_drawn_as_sure() -> None:
    text = "def area(r):\n    return 3 * r * r\n"
    async with Editor.run(text, Say(text="assert area(1)"), capabilities=WATCHING) as editor:
        await editor.command(WRITE_TEST, position={"line": 0, "character": 0})
        first = drafts(editor.client)[0]
        assert first["tokens"][0] == {"text": "\n\ndef test_area():\n    ", "isLocked": True}
        assert first["range"]["start"] == first["range"]["end"] == {"line": 2, "character": 0}


BLOCK = "def f(x):\n    |\n\n\nx = 1\n"


async def test_ghost_text_of_a_block_that_was_asked_for_is_drawn_as_it_develops() -> None:
    async with Editor.run(BLOCK, Say(text="a\n    b"), capabilities=WATCHING) as editor:
        line, character = editor.cursor["line"], editor.cursor["character"]
        assert (await editor.client.inline(editor.uri, line, character, kind=1))["items"]
        *shown, last = drafts(editor.client)
        assert shown
        assert (last["isDone"], last["tokens"]) == (True, [])
        assert {draft["token"] for draft in shown} == {last["token"]}
        assert all(draft["range"] == {"start": editor.cursor, "end": editor.cursor} for draft in shown)


@pytest.mark.parametrize("how", ["cancel", "change", "error"])
async def test_the_drawing_of_ghost_text_is_removed_whatever_happens(how: str) -> None:
    held = Say(text="a\n    b c d", num_steps=2, hold_before=2)
    said = held if how != "error" else replace(held, hold_before=0, error="ResourceError")
    async with Editor.run(BLOCK, said, capabilities=WATCHING) as editor:
        asked = editor.client.ask_inline(editor.uri, editor.cursor["line"], editor.cursor["character"], kind=1)
        await editor.client.message(lambda message: message.get("method") == "midfill/draft")
        if how == "cancel":
            editor.client.notify("$/cancelRequest", {"id": asked})
        elif how == "change":
            editor.type("y", at=0)
        assert await editor.client.result(asked) == {"items": []}
        assert [draft["isDone"] for draft in drafts(editor.client)][-1] is True
        assert [draft["isDone"] for draft in drafts(editor.client)].count(True) == 1


@pytest.mark.parametrize(("marked", "kind"), [(BLOCK, 2), ("x = |\n", 1), ("f(|, y)\n", 1)])
async def test_ghost_text_that_nobody_waits_for_or_of_one_line_is_not_drawn(marked: str, kind: int) -> None:
    async with Editor.run(marked, Say(text="a"), capabilities=WATCHING) as editor:
        await editor.client.inline(editor.uri, editor.cursor["line"], editor.cursor["character"], kind=kind)
        assert drafts(editor.client) == []


async def test_progress_of_what_takes_more_than_a_second(tmp_path: Path) -> None:
    release = tmp_path / "release"
    async with Editor.run("x = \n", Say(text="1", hold_before=2), release=release) as editor:
        asked = editor.ask_command(FILL, position=editor.position(4))
        begun = await editor.client.message(lambda message: message.get("method") == "$/progress")
        assert created(editor.client) == [begun["params"]["token"]]
        assert begun["params"]["value"] == {
            "kind": "begin",
            "title": "midfill",
            "message": "step 1",
            "cancellable": True,
        }
        release.touch()
        assert (await editor.client.result(asked))["applied"] is True
        assert [each["value"]["kind"] for each in progress(editor.client)][-1] == "end"


async def test_stopping_the_progress_stops_the_engine() -> None:
    async with Editor.run("x = \n", Say(text="1", hold_before=2)) as editor:
        asked = editor.ask_command(FILL, position=editor.position(4))
        begun = await editor.client.message(lambda message: message.get("method") == "$/progress")
        editor.client.notify("window/workDoneProgress/cancel", {"token": begun["params"]["token"]})
        assert (await editor.client.result(asked))["message"] == "stopped"
        await editor.client.event(lambda event: event["event"] == "cancelled")
        assert progress(editor.client)[-1]["value"]["kind"] == "end"
        editor.client.notify("window/workDoneProgress/cancel", {"token": begun["params"]["token"]})
        editor.client.notify("window/workDoneProgress/cancel", {"token": "nobody's"})


async def test_a_token_of_the_client_is_used_and_none_is_made(tmp_path: Path) -> None:
    release = tmp_path / "release"
    async with Editor.run("x = \n", Say(text="1", hold_before=2), capabilities=HELIX, release=release) as editor:
        argument = {"textDocument": {"uri": editor.uri}, "position": editor.position(4)}
        params = {"command": FILL, "arguments": [argument], "workDoneToken": "mine"}
        asked = editor.client.ask(EXECUTE, params)
        begun = await editor.client.message(lambda message: message.get("method") == "$/progress")
        assert (begun["params"]["token"], created(editor.client)) == ("mine", [])
        release.touch()
        await editor.client.result(asked)


async def test_what_is_quick_has_no_progress() -> None:
    async with Editor.run("x = \n", Say(text="1")) as editor:
        await editor.command(FILL, position=editor.position(4))
        assert (created(editor.client), progress(editor.client)) == ([], [])


async def test_the_loading_of_a_model_has_progress(tmp_path: Path) -> None:
    release = tmp_path / "release"
    async with Editor.run("x = \n", Say(text="1"), release=release, is_start_held=True) as editor:
        begun = await editor.client.message(lambda message: message.get("method") == "$/progress")
        value = begun["params"]["value"]
        assert (value["title"], value["message"], value["cancellable"]) == (
            "midfill",
            "loading pocket: half way",
            False,
        )
        release.touch()
        await editor.client.message(
            lambda message: message.get("method") == "$/progress" and message["params"]["value"]["kind"] == "end"
        )
