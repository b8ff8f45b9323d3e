"""Commands that fill on demand, against the real server with a scripted engine."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from support.editor import BARE, EMACS, EXECUTE, HELIX, NEOVIM_WHOLE, VSCODE, Editor, with_all
from support.lsp_client import LspError, Message
from support.lsp_session import fills, messages_to_user
from support.scripted_server import Say

FILL, REWRITE, NEXT = "midfill.fill", "midfill.rewrite", "midfill.nextDraft"
WRITE_TEST, DOCSTRING, MODELS = "midfill.writeTest", "midfill.docstring", "midfill.models"
EVERYBODY = pytest.mark.parametrize("capabilities", [VSCODE, NEOVIM_WHOLE, HELIX, EMACS])
DONE = {"applied": True, "message": "", "numHoles": 1}
BODY = "def area(r):\n    return 3 * r * r\n\nprint(area(2))\n"


def told(message: str) -> Message:
    return {"applied": False, "message": message, "numHoles": 0}


@EVERYBODY
async def test_fill_at_a_position(capabilities: Message) -> None:
    async with Editor.run("def f():\n    |\n", Say(text="return 1"), capabilities=capabilities) as editor:
        assert await editor.command(FILL, position=editor.cursor) == DONE
        assert editor.text == "def f():\n    return 1\n"
        assert len(editor.edits) == 1
        assert "changeAnnotations" not in editor.edits[0]


async def test_fill_in_place_of_a_range_is_not_confirmed() -> None:
    async with Editor.run("x = old\n", Say(text="new")) as editor:
        assert await editor.command(FILL, range=editor.range_of("old")) == DONE
        assert editor.text == "x = new\n"
        assert "changeAnnotations" not in editor.edits[0]


async def test_a_client_that_cannot_apply_edits_is_handed_the_edit() -> None:
    async with Editor.run("x = old\n", Say(text="new"), capabilities=BARE) as editor:
        result = await editor.command(REWRITE, range=editor.range_of("old"))
        edit = {"range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 7}}, "newText": "new"}
        assert result == {**told(""), "numHoles": 1, "edit": {"changes": {editor.uri: [edit]}}}
        editor.apply(result["edit"])
        assert editor.text == "x = new\n"


@EVERYBODY
async def test_a_rewrite_is_one_edit_that_is_confirmed_where_the_client_can(capabilities: Message) -> None:
    async with Editor.run(BODY, Say(text="return pi * r ** 2"), capabilities=capabilities) as editor:
        result = await editor.command(REWRITE, range=editor.range_of("    return 3 * r * r\n"))
        assert result == DONE
        assert editor.text == BODY.replace("return 3 * r * r", "return pi * r ** 2")
        (edit,) = editor.edits
        can_confirm = "changeAnnotationSupport" in capabilities["workspace"]["workspaceEdit"]
        annotations = edit.get("changeAnnotations", {})
        assert [each["needsConfirmation"] for each in annotations.values()] == [True] * can_confirm
        (request,) = fills(editor.client)
        assert (request["selection"], request["instruction"]) == ("return 3 * r * r", "")
        assert request["prefix"] == "def area(r):\n    "
        assert request["suffix"] == "\n\nprint(area(2))\n"


@pytest.mark.parametrize(
    ("text", "selected", "said", "expected"),
    [
        ("def f():\n    a = 1\n    b = 2\n", "    a = 1\n    b = 2\n", "c = 3", "def f():\n    c = 3\n"),
        ("def f():\n\n    a = 1\n\n\nx\n", "\n    a = 1\n\n", "c = 3", "def f():\n\n    c = 3\n\n\nx\n"),
        ("print(alpha, beta)\n", "alpha", "gamma", "print(gamma, beta)\n"),
        ("print(alpha, beta)\n", " beta", "gamma", "print(alpha, gamma)\n"),
        ("a = 1\nb = 2", "b = 2", "b = 3", "a = 1\nb = 3"),
        ("if x:\n\ty = 1\n\tz = 2\n", "\ty = 1\n\tz = 2\n", "y = 3\n\tz = 4", "if x:\n\ty = 3\n\tz = 4\n"),
    ],
)
async def test_indentation_and_line_ends_around_a_selection_stay(
    text: str, selected: str, said: str, expected: str
) -> None:
    async with Editor.run(text, Say(text=said)) as editor:
        assert await editor.command(REWRITE, range=editor.range_of(selected)) == DONE
        assert editor.text == expected


async def test_an_instruction_in_a_comment_is_taken_out_and_pocket_says_that_it_cannot_follow() -> None:
    text = "def f():\n    # midfill: use a dict\n    return [1]\n"
    async with Editor.run(text, Say(text="# midfill: use a dict\n    return {1: 1}")) as editor:
        result = await editor.command(REWRITE, range=editor.range_of("    # midfill: use a dict\n    return [1]\n"))
        assert result == {**DONE, "message": "pocket cannot follow instructions: this is a fresh draft"}
        assert editor.text == "def f():\n    return {1: 1}\n"
        (request,) = fills(editor.client)
        assert (request["instruction"], request["selection"].strip()) == ("use a dict", "return [1]")
        (annotation,) = editor.edits[0]["changeAnnotations"].values()
        assert annotation["description"] == result["message"]


async def test_an_instruction_as_an_argument_goes_before_that_in_a_comment() -> None:
    async with Editor.run("x = [1]  # midfill: a tuple\n", Say(text="x = {1}")) as editor:
        await editor.command(REWRITE, range=editor.range_of("x = [1]  # midfill: a tuple"), instruction="a set")
        assert fills(editor.client)[0]["instruction"] == "a set"
        assert editor.text == "x = {1}\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
async def test_emoji_and_line_ends_in_every_encoding(encoding: str, eol: str) -> None:
    """Rows 6 and 7, for edits: columns in the client's units, line ends those of the file."""
    capabilities = with_all(VSCODE, {"general": {"positionEncodings": [encoding]}})
    text = "a = '😀é'\ns = '😀é' + old + '😀'\nb = '👩‍👩‍👧'\n".replace("\n", eol)
    async with Editor.run(
        text, Say(text="'😀' + new"), Say(text="x = '👍'\ny = 2"), capabilities=capabilities
    ) as editor:
        assert await editor.command(REWRITE, range=editor.range_of("old")) == DONE
        expected = text.replace("old", "'😀' + new")
        assert editor.text == expected
        last = editor.range_of(f"b = '👩‍👩‍👧'{eol}")
        assert await editor.command(REWRITE, range=last) == DONE
        assert editor.text == expected.replace("b = '👩‍👩‍👧'", f"x = '👍'{eol}y = 2")
        assert "\r" not in fills(editor.client)[1]["prefix"]


async def test_an_empty_file_and_the_end_of_one_without_a_line_end() -> None:
    async with Editor.run("|", Say(text="import os\n"), Say(text=".path")) as editor:
        assert await editor.command(FILL, position=editor.cursor) == DONE
        assert editor.text == "import os"
        assert await editor.command(FILL, position={"line": 99, "character": 99}) == DONE
        assert editor.text == "import os.path"


async def test_a_huge_selection() -> None:
    """The old text is context, bounded by what the engine reads; the new one has as much room as can be given."""
    body = "".join(f"    x{number} = {number}\n" for number in range(20_000))
    async with Editor.run(f"def f():\n{body}    return 1\n", Say(text="x = 1")) as editor:
        assert await editor.command(REWRITE, range=editor.range_of(body)) == DONE
        assert editor.text == "def f():\n    x = 1\n    return 1\n"
        assert fills(editor.client)[0]["max_tokens"] == 1024


async def test_a_document_that_changes_meanwhile_is_not_touched(tmp_path: Path) -> None:
    async with Editor.run("x = \ny = 1\n", Say(text="1", hold_before=2)) as editor:
        asked = editor.ask_command(FILL, position=editor.position(4))
        await editor.client.event(lambda event: event["event"] == "step")
        editor.type("2", at=9)
        assert await editor.client.result(asked) == told("the document has changed")
        await editor.client.event(lambda event: event["event"] == "cancelled")
        assert (editor.text, editor.edits) == ("x = \ny = 21\n", [])


async def test_a_stale_version_is_refused_before_the_model_is_asked() -> None:
    async with Editor.run("x = \n", Say(text="1")) as editor:
        editor.type("y", at=5)
        result = await editor.command(FILL, textDocument={"uri": editor.uri, "version": 1}, position=editor.position(4))
        assert result == told("the document has changed")
        result = await editor.command(FILL, textDocument={"uri": editor.uri, "version": 2}, position=editor.position(4))
        assert result == DONE
        assert len(fills(editor.client)) == 1


async def test_cancelling_stops_the_engine_before_its_next_step_and_the_reply_is_a_result() -> None:
    """pygls answered with an error and let the command run on."""
    async with Editor.run("x = \n", Say(text="1", num_steps=5, hold_before=3), Say(text="2")) as editor:
        asked = editor.ask_command(FILL, position=editor.position(4))
        await editor.client.event(lambda event: event.get("number") == 2)
        editor.client.notify("$/cancelRequest", {"id": asked})
        assert await editor.client.result(asked) == told("stopped")
        cancelled = await editor.client.event(lambda event: event["event"] == "cancelled")
        assert cancelled["num_steps"] == 2
        assert await editor.command(FILL, position=editor.position(4)) == DONE
        assert editor.text == "x = 2\n"


async def test_of_two_orders_for_a_document_the_newer_is_carried_out() -> None:
    async with Editor.run("x = \n", Say(text="1", hold_before=2), Say(text="2")) as editor:
        first = editor.ask_command(FILL, position=editor.position(4))
        await editor.client.event(lambda event: event["event"] == "step")
        assert await editor.command(FILL, position=editor.position(4)) == DONE
        assert (await editor.client.result(first))["applied"] is False
        assert editor.text == "x = 2\n"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (Say(text=""), "the model has found nothing that fits here"),
        (Say(text="   \n"), "the model has found nothing that fits here"),
        (Say(error="ResourceError"), "scripted ResourceError"),
        (Say(error="RuntimeError"), "midfill has failed here; its log says how"),
    ],
)
async def test_nothing_found_and_every_failure_is_a_result_with_a_word(said: Say, message: str) -> None:
    async with Editor.run("x = \n", said) as editor:
        assert await editor.command(FILL, position=editor.position(4)) == told(message)
        assert editor.text == "x = \n"
        assert messages_to_user(editor.client) == []


async def test_a_model_that_cannot_be_loaded_is_told_of() -> None:
    async with Editor.run("x = \n", Say(text="1"), start_error="PresetError") as editor:
        assert await editor.command(FILL, position=editor.position(4)) == told("scripted PresetError")


async def test_a_command_waits_for_the_model(tmp_path: Path) -> None:
    release = tmp_path / "release"
    async with Editor.run("x = \n", Say(text="1"), release=release, is_start_held=True) as editor:
        asked = editor.ask_command(FILL, position=editor.position(4))
        await editor.client.event(lambda event: event["event"] == "start")
        assert fills(editor.client) == []
        release.touch()
        assert await editor.client.result(asked) == DONE
        assert editor.text == "x = 1\n"


async def test_a_client_that_does_not_apply_the_edit_is_believed() -> None:
    async with Editor.run("x = \n", Say(text="1")) as editor:
        editor.refuses = True
        result = await editor.command(FILL, position=editor.position(4))
        assert result == {**told("the editor has not put it in: I would rather not"), "numHoles": 1}


@pytest.mark.parametrize("answer", [None, {}, [], {"applied": "yes"}, 5])
async def test_a_client_whose_answer_makes_no_sense_is_not_waited_for_for_ever(answer: Any) -> None:
    """A response that could not be understood left the command without an answer."""
    async with Editor.run("x = \n", Say(text="1")) as editor:
        editor.client.answers["workspace/applyEdit"] = lambda params: answer
        result = await editor.command(FILL, position=editor.position(4))
        assert set(result) == {"applied", "message", "numHoles"}


@pytest.mark.parametrize(
    ("uri", "options", "reason"),
    [
        ("file:///work/.env", {}, "off in files that may hold secrets"),
        ("file:///work/a.py", {"languagesOff": ["python"]}, "switched off for python"),
        ("file:///work/a.py", {"enabled": False}, "switched off"),
        ("file:///work/a.py", {"excludeGlobs": ["*.py"]}, "excluded by midfill.excludeGlobs"),
    ],
)
async def test_where_nothing_is_suggested_nothing_is_filled_on_demand(
    uri: str, options: Message, reason: str, tmp_path: Path
) -> None:
    async with Editor.run("x = \n", Say(text="1"), uri=uri, release=tmp_path / "never") as editor:
        editor.client.notify("workspace/didChangeConfiguration", {"settings": options or {"maxTokens": 64}})
        for command in (FILL, REWRITE, NEXT, WRITE_TEST, DOCSTRING):
            result = await editor.command(command, range=editor.range(0, 4))
            assert result == told(f"nothing is filled here: {reason}")
        assert await editor.actions(editor.range(0, 4)) == []
        assert fills(editor.client) == []


async def test_models_are_told_without_loading_any() -> None:
    async with Editor.run("x = \n", Say(text="1")) as editor:
        (pocket,) = await editor.client.request(EXECUTE, {"command": MODELS, "arguments": [{}]})
        assert set(pocket) == {"name", "description", "size", "licence", "fit", "isCurrent"}
        assert (pocket["name"], pocket["size"], pocket["isCurrent"]) == ("pocket", "17 MB", True)
        assert await editor.client.request(EXECUTE, {"command": MODELS}) == [pocket]


WRONG: list[Any] = [
    None, True, 0, -1, 2**70, 1.5, "", "x", [], [[]], {}, {"uri": 5}, {"line": 0}, {"line": "0", "character": 0},
    {"start": {}, "end": {}}, {"start": {"line": 1, "character": 1}, "end": {"line": 0, "character": 0}}, "\ud800",
    {"line": -5, "character": 2**40},
]  # fmt: skip


async def test_any_argument_at_all_gets_a_result_that_is_one() -> None:
    """Fuzz: every command with every kind of wrong argument."""
    rng = random.Random(11)
    async with Editor.run("x = 1\n", Say(text="2")) as editor:
        editor.refuses = True
        document = {"uri": editor.uri}
        asked = {}
        for _ in range(400):
            command = rng.choice([FILL, REWRITE, NEXT, WRITE_TEST, DOCSTRING, MODELS])
            keys = rng.sample(["textDocument", "position", "range", "instruction", "extra"], rng.randint(0, 4))
            argument = {key: rng.choice(WRONG) for key in keys}
            if rng.random() < 0.6:
                argument["textDocument"] = document | rng.choice([{}, {"version": rng.choice(WRONG)}])
            arguments = rng.choice([[argument], [argument], [argument, 1], [], [rng.choice(WRONG)], None])
            params = {"command": command} | ({"arguments": arguments} if arguments is not None else {})
            asked[editor.client.ask(EXECUTE, params)] = (command, json.dumps(params))
        for request_id, (command, params) in asked.items():
            result = await editor.client.result(request_id)
            if command != MODELS:
                assert {"applied", "message", "numHoles"} <= set(result), params
                assert (result["applied"], type(result["message"]), type(result["numHoles"])) == (False, str, int)
        editor.refuses = False
        assert await editor.command(FILL, position=editor.position(5)) == DONE
        assert messages_to_user(editor.client) == []


async def test_an_unknown_command_is_refused() -> None:
    async with Editor.run("x = 1\n", Say(text="2")) as editor:
        with pytest.raises(LspError) as caught:
            await editor.client.request(EXECUTE, {"command": "midfill.format"})
        assert caught.value.code == -32602


async def test_a_draft_that_breaks_the_text_is_tried_again() -> None:
    """Half a name was replaced by a call, in the middle of the other half, though other drafts were to be had."""
    broken = Say(text="join(folder) ")
    async with Editor.run("x = os.getsize(path)\n", broken) as editor:
        result = await editor.command(REWRITE, range=editor.range_of("get"))
        assert (result["message"], result["applied"]) == ("this draft does not parse", True)
    async with Editor.run("x = os.getsize(path)\n", broken, Say(text="put")) as editor:
        result = await editor.command(REWRITE, range=editor.range_of("get"))
        assert (result["message"], editor.text) == ("", "x = os.putsize(path)\n")
        first, second = fills(editor.client)
        assert first["seed"] < second["seed"]


async def test_a_hole_is_left_as_it_is_rather_than_broken() -> None:
    """In languages that a model does not know `todo!()` gave way to an opening bracket."""
    text = "def f(x):\n    pass\n"
    async with Editor.run(text, Say(text="[")) as editor:
        expected = {"applied": False, "message": "the model has found nothing that fits here", "numHoles": 0}
        assert await editor.command("midfill.fillHoles") == expected
        assert editor.text == text
        assert len(fills(editor.client)) == 3


async def test_an_order_is_about_the_text_at_its_arrival() -> None:
    """A key right behind a command was taken in before the command began, which then filled a place further down."""
    async with Editor.run("x = old\ny = older\n", Say(text="new")) as editor:
        asked = editor.ask_command(REWRITE, range=editor.range_of("old"))
        editor.type("z = 1\n", at=0)
        result = await editor.client.result(asked)
        assert result == {"applied": False, "message": "the document has changed", "numHoles": 0}
        assert editor.text == "z = 1\nx = old\ny = older\n"
