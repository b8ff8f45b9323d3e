"""Ghost text over stdio, against the real server around a scripted engine."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from support.lsp_client import NEOVIM, applied
from support.lsp_session import URI, editing, fills, messages_to_user, place, texts
from support.scripted_server import Say


async def accepted(marked: str, said: str, encoding: str = "utf-8") -> str:
    """The text after the one suggestion for a cursor `|` has been accepted."""
    text, line, character = place(marked, encoding)
    capabilities = NEOVIM | {"general": {"positionEncodings": [encoding]}}
    async with editing(text, Say(text=said), capabilities=capabilities) as client:
        (item,) = (await client.inline(URI, line, character))["items"]
        assert item["range"]["start"]["line"] == item["range"]["end"]["line"] == line
        assert "\r" not in item["insertText"]
        return applied(text, item, encoding)


async def test_an_answer_is_a_list_of_items_with_a_range_on_one_line_and_a_command() -> None:
    """Row 14 (neovim#38721): without a range VS Code replaces the word at the cursor and Neovim raised an error."""
    async with editing("x = (y)\n", Say(text="foo")) as client:
        result = await client.inline(URI, 0, 4)
        (item,) = result["items"]
        assert set(result) == {"items"}
        place_of_cursor = {"line": 0, "character": 4}
        assert item["range"] == {"start": place_of_cursor, "end": place_of_cursor}
        assert item["insertText"] == "foo"
        assert await client.request("workspace/executeCommand", item["command"]) is None
        (asked,) = fills(client)
        assert (asked["prefix"], asked["suffix"], asked["language"]) == ("x = ", "(y)\n", "python")
        assert (asked["document"], asked["mode"], asked["num_candidates"]) == (URI, "line", 1)
        assert asked["client"].startswith("lsp-")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_columns_in_all_encodings(encoding: str) -> None:
    """Row 7 (agnix#1121): an emoji on the line shifted the range and corrupted the text."""
    expected = 'a = f("😀e\u0301", [b, c] * 2)\n'
    assert await accepted('a = f("😀e\u0301", [b|])\n', ", c] * 2", encoding) == expected


async def test_a_file_with_returns_stays_one() -> None:
    """Row 6 (continue#3591): accepted text added blank lines to files with \\r\\n."""
    text, line, character = place("a = 1\r\nb = |\r\n")
    async with editing(text, Say(text="2\r\nc = 3\r\n")) as client:
        assert texts(await client.inline(URI, line, character)) == ["2\nc = 3"]
        assert (fills(client)[0]["prefix"], fills(client)[0]["suffix"]) == ("a = 1\nb = ", "\n")


async def test_brackets_that_the_editor_closed() -> None:
    """Rows 9 and 10: doubled, or put in front of the suggestion."""
    assert await accepted("print(foo|)\n", ", bar)") == "print(foo, bar)\n"
    assert await accepted("foo(bar(|))\n", "x) + y") == "foo(bar(x) + y)\n"


async def test_documents_that_are_on_no_disk() -> None:
    """Row 22 (vscode-fauxpilot#8): nothing, or an empty prompt, in texts that were never saved."""
    notebook, windows = "vscode-notebook-cell:/a.ipynb#W0s", "file:///c%3A/Users/x%20y/a.py"
    async with editing("x = \n", Say(text="1")) as client:
        for uri in ("untitled:Untitled-1", "file://", notebook, windows):
            client.open(uri, "x = \n")
            assert texts(await client.inline(uri, 0, 4)) == ["1"], uri
            assert (fills(client)[-1]["prefix"], fills(client)[-1]["document"]) == ("x = ", uri)


async def test_typing_into_a_suggestion_asks_the_engine_once() -> None:
    """Rows 1 and 2 (neovim#36529, minuet#149): after a predicted letter the old item doubled it, or took letters."""
    async with editing("foob\n", Say(text="ar(1,\n    2)")) as client:
        assert texts(await client.inline(URI, 0, 4)) == ["ar(1,\n    2)"]
        client.change(URI, 2, "a", at=(0, 4, 0, 4))
        (item,) = (await client.inline(URI, 0, 5))["items"]
        assert applied("fooba\n", item) == "foobar(1,\n    2)\n"
        client.change(URI, 3, "r(", at=(0, 5, 0, 5))
        client.change(URI, 4, ")", at=(0, 7, 0, 7))  # the editor closes the bracket
        (item,) = (await client.inline(URI, 0, 7))["items"]
        assert applied("foobar()\n", item) == "foobar(1,\n    2)\n"
        assert len(fills(client)) == 1
        client.change(URI, 5, "x", at=(0, 7, 0, 7))
        await client.inline(URI, 0, 8)
        assert len(fills(client)) == 2


async def test_of_a_storm_only_the_last_request_runs_to_its_end() -> None:
    """Row 3 (helix-gpt#53, pygls#517): old requests were never cancelled and the newest never answered."""
    held = [Say(text="old", num_steps=5, hold_before=2)] * 29
    async with editing("x = \n", *held, Say(text="new", num_steps=5)) as client:
        asked = []
        for number in range(1, 31):
            client.change(URI, number + 1, "x = \n" + "\n" * number)  # a change elsewhere: it agrees with nothing
            asked.append(client.ask_inline(URI, 0, 4))
            await client.event(lambda event, number=number: event == {"event": "step", "number": number})
        results = [texts(await client.result(request_id)) for request_id in asked]
        assert results == [[]] * 29 + [["new"]]
        ends = [event for event in client.events if event["event"] in ("cancelled", "finished")]
        assert [(event["event"], event["num_steps"]) for event in ends] == [("cancelled", 1)] * 29 + [("finished", 5)]


async def test_a_storm_in_one_place_reaches_the_engine_once() -> None:
    async with editing("x = \n", Say(text="new")) as client:
        asked = [client.ask_inline(URI, 0, 4) for _ in range(30)]
        results = [texts(await client.result(request_id)) for request_id in asked]
        assert results[-1] == ["new"]
        assert all(result in ([], ["new"]) for result in results)
        assert len(fills(client)) == 1


async def test_cancelling_stops_the_engine_before_its_next_step() -> None:
    """Row 4 (cline#7468): cancelled in the editor, the GPU kept running. The reply is a result all the same."""
    async with editing("x = \n", Say(text="old", num_steps=9, hold_before=3), Say(text="new")) as client:
        request_id = client.ask_inline(URI, 0, 4)
        await client.event(lambda event: event == {"event": "step", "number": 2})
        client.notify("$/cancelRequest", {"id": request_id})
        assert await client.result(request_id) == {"items": []}
        cancelled = await client.event(lambda event: event["event"] == "cancelled")
        assert cancelled["num_steps"] == 2
        assert texts(await client.inline(URI, 0, 4)) == ["new"]
        client.notify("$/cancelRequest", {"id": request_id})
        client.notify("$/cancelRequest", {"id": "never seen"})
        assert texts(await client.inline(URI, 0, 4)) == ["new"]


async def test_a_key_makes_the_running_request_useless_and_what_it_contradicts_is_stopped() -> None:
    """Neovim does not cancel and draws late answers into a text that has moved on."""
    async with editing("x = \n", Say(text="old thing", hold_before=3), Say(text="new")) as client:
        request_id = client.ask_inline(URI, 0, 4)
        await client.event(lambda event: event == {"event": "step", "number": 2})  # "old" is locked
        client.change(URI, 2, "y", at=(0, 4, 0, 4))
        assert await client.result(request_id) == {"items": []}
        cancelled = await client.event(lambda event: event["event"] == "cancelled")
        assert cancelled["num_steps"] == 2
        assert texts(await client.inline(URI, 0, 5)) == ["new"]


async def test_typing_along_with_a_running_fill_does_not_stop_it(tmp_path: Path) -> None:
    """At eight keys a second a fill of 150 ms was overtaken by every key, and no suggestion came until a pause."""
    release = tmp_path / "release"
    said = Say(text="foo(a, b)", hold_before=3)
    async with editing("x = \n", said, release=release) as client:
        await client.status(kind="Normal", busy=False)
        first = client.ask_inline(URI, 0, 4)
        await client.event(lambda event: event == {"event": "step", "number": 2})
        client.change(URI, 2, "f", at=(0, 4, 0, 4))
        second = client.ask_inline(URI, 0, 5)
        client.change(URI, 3, "o", at=(0, 5, 0, 5))
        third = client.ask_inline(URI, 0, 6)
        assert [await client.result(let_go) for let_go in (first, second)] == [{"items": []}] * 2
        client.notify("$/cancelRequest", {"id": second})  # an answered one: nobody is harmed
        release.touch()
        (item,) = (await client.result(third))["items"]
        assert applied("x = fo\n", item) == "x = foo(a, b)\n"
        assert len(fills(client)) == 1


async def test_a_draft_that_contradicts_what_was_typed_since_is_stopped_and_the_newest_place_asked(
    tmp_path: Path,
) -> None:
    release = tmp_path / "release"
    said = Say(text="old", num_steps=3, hold_before=1)
    async with editing("x = \n", said, Say(text="ew"), release=release) as client:
        await client.status(kind="Normal", busy=False)
        client.ask_inline(URI, 0, 4)
        await client.event(lambda event: event["event"] == "fill")
        client.change(URI, 2, "n", at=(0, 4, 0, 4))
        joined = client.ask_inline(URI, 0, 5)
        release.touch()
        assert texts(await client.result(joined)) == ["ew"]
        cancelled = await client.event(lambda event: event["event"] == "cancelled")
        assert cancelled["num_steps"] == 1
        assert [asked["prefix"] for asked in fills(client)] == ["x = ", "x = n"]


async def test_a_cancelled_request_that_has_joined_a_fill_stops_it() -> None:
    async with editing("x = \n", Say(text="foo thing", hold_before=3), Say(text="bar")) as client:
        client.ask_inline(URI, 0, 4)
        await client.event(lambda event: event == {"event": "step", "number": 2})
        client.change(URI, 2, "f", at=(0, 4, 0, 4))
        joined = client.ask_inline(URI, 0, 5)
        await client.inline("file:///not/open.py", 0, 0)  # by now the other one has joined
        client.notify("$/cancelRequest", {"id": joined})
        assert await client.result(joined) == {"items": []}
        cancelled = await client.event(lambda event: event["event"] == "cancelled")
        assert cancelled["num_steps"] == 2


async def test_who_asks_again_in_so_many_words_gets_other_drafts() -> None:
    said = (Say(text="one"), Say(text="one", others=("two",)), Say(text="two", others=("one", "three")))
    async with editing("x = \n", *said) as client:
        assert texts(await client.inline(URI, 0, 4)) == ["one"]
        assert texts(await client.inline(URI, 0, 4, kind=1)) == ["one", "two"]
        assert texts(await client.inline(URI, 0, 4, kind=1)) == ["three", "one", "two"]
        assert texts(await client.inline(URI, 0, 4)) == ["three", "one", "two"]
        first, second, third = fills(client)
        assert first["seed"] == second["seed"] == 0
        assert third["seed"] > second["num_candidates"]


async def test_another_draft_of_ghost_text_is_not_what_was_shown() -> None:
    async with editing("x = \n", Say(text="one"), Say(text="one", others=("two",))) as client:
        assert texts(await client.inline(URI, 0, 4)) == ["one"]
        where = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 4}}
        command = {"command": "midfill.nextDraft", "arguments": [where]}
        assert (await client.request("workspace/executeCommand", command))["inline"] is True
        assert texts(await client.inline(URI, 0, 4)) == ["one"]  # nobody has pressed a key for this one
        assert texts(await client.inline(URI, 0, 4, kind=1)) == ["two", "one"]
        first, second = fills(client)
        assert (first["seed"], first["num_candidates"]) == (0, 1)
        assert second["seed"] >= first["num_candidates"]


async def test_what_comes_after_an_accepted_suggestion_is_there_already() -> None:
    async with editing("x = \n", Say(text="foo()"), Say(text=".bar()")) as client:
        assert texts(await client.inline(URI, 0, 4)) == ["foo()"]
        client.change(URI, 2, "foo()", at=(0, 4, 0, 4))
        await client.event(lambda event: event["event"] == "finished" and event["request_id"] == "in advance")
        assert texts(await client.inline(URI, 0, 9)) == [".bar()"]
        assert [asked["prefix"] for asked in fills(client)] == ["x = ", "x = foo()"]


async def test_what_nobody_has_asked_for_makes_way() -> None:
    other = "file:///work/other.py"
    async with editing("x = \n", Say(text="foo()"), Say(text=".bar()", hold_before=2), Say(text="z")) as client:
        client.open(other, "y = \n")
        assert texts(await client.inline(URI, 0, 4)) == ["foo()"]
        client.change(URI, 2, "foo()", at=(0, 4, 0, 4))
        await client.event(lambda event: event["event"] == "fill" and event["request_id"] == "in advance")
        assert texts(await client.inline(other, 0, 4)) == ["z"]
        cancelled = await client.event(lambda event: event["event"] == "cancelled")
        assert cancelled["request_id"] == "in advance"


async def test_nothing_is_an_empty_list_and_never_null() -> None:
    """Row 17: on null Neovim keeps its ghost text and accepts it at another place."""
    async with editing("x = \n", Say(text=" \n")) as client:
        nothing = {"items": []}
        assert await client.inline(URI, 0, 4) == nothing
        assert await client.inline("file:///etc/hostname", 0, 0) == nothing
        client.open("git:/a.py?ref", "x = ")
        client.open("output:log", "x = ")
        assert await client.inline("git:/a.py?ref", 0, 4) == nothing
        assert await client.inline("output:log", 0, 4) == nothing
        client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
        assert await client.inline(URI, 0, 4) == nothing
        assert len(fills(client)) == 1


async def test_files_with_a_secret_in_their_text_are_off_until_it_is_gone() -> None:
    """Row 23, by pattern: a token pasted into an ordinary file was sent as context of the next completion."""
    uri, secret = "file:///work/b.py", "ghp_" + "a1B2" * 9
    async with editing("x = \n", Say(text="1")) as client:
        client.open(uri, f"token = '{secret}'\nx = \n", "python")
        assert await client.inline(uri, 1, 4) == {"items": []}
        status = await client.status(kind="Inactive")
        assert "secret" in status["message"]
        assert fills(client) == []
        client.open(uri, "token = ''\nx = \n", "python")
        assert texts(await client.inline(uri, 1, 4)) == ["1"]


async def test_files_with_secrets_are_never_read_to_a_model() -> None:
    """Row 23 (vscode#335397): keys were sent and completed."""
    async with editing("x = \n", Say(text="1")) as client:
        client.open("file:///work/.env", "KEY=", "dotenv")
        assert await client.inline("file:///work/.env", 0, 4) == {"items": []}
        status = await client.status(kind="Inactive")
        assert "secrets" in status["message"]
        assert fills(client) == []
        assert texts(await client.inline(URI, 0, 4)) == ["1"]
        statuses = [message["params"] for message in client.messages if message.get("method") == "didChangeStatus"]
        assert [(each["kind"], each["busy"]) for each in statuses] == [
            ("Normal", True),
            ("Normal", False),
            ("Inactive", False),
            ("Normal", False),
        ]


async def test_while_the_model_is_loaded_requests_are_answered_at_once(tmp_path: Path) -> None:
    """Row 30: requests queued up behind a model that was being loaded."""
    release = tmp_path / "release"
    async with editing("x = \n", Say(text="1"), is_start_held=True, release=release) as client:
        await client.status(busy=True, message="loading pocket")
        assert [await client.inline(URI, 0, 4) for _ in range(3)] == [{"items": []}] * 3
        release.touch()
        await client.status(busy=False)
        assert texts(await client.inline(URI, 0, 4)) == ["1"]
        assert len([event for event in client.events if event["event"] == "start"]) == 1


async def test_a_failing_engine_is_silent_in_the_editor() -> None:
    """Rows 16 and 21 (lsp-ai#56, ollama#1952): error replies, pop-ups, and a server that was dead for good."""
    errors = ("ResourceError", "RequestError", "EngineUnavailable", "a fault of our own")
    answers = [say for error in errors for say in (Say(error=error), Say(text="1"))]
    async with editing("x = \n", *answers) as client:
        for version, _error in enumerate(errors, start=2):
            client.change(URI, version, "x = \n" + "\n" * version)
            assert await client.inline(URI, 0, 4) == {"items": []}
            while not (result := await client.inline(URI, 0, 4))["items"]:
                pass  # the engine is being started again
            assert texts(result) == ["1"]
        assert messages_to_user(client) == []
        assert (await client.status(kind="Warning"))["message"] == "scripted ResourceError"


async def test_an_engine_that_cannot_be_started_is_told_in_the_status() -> None:
    async with editing("x = \n", start_error="PresetError") as client:
        status = await client.status(kind="Error")
        assert status == {"kind": "Error", "message": "scripted PresetError", "busy": False}
        assert await client.inline(URI, 0, 4) == {"items": []}
        assert messages_to_user(client) == []


async def test_who_presses_a_key_for_it_gets_several() -> None:
    said = Say(text="one", others=("two", "one", "one\n"))
    async with editing("x = \n", said) as client:
        assert texts(await client.inline(URI, 0, 4, kind=1)) == ["one", "two"]
        assert fills(client)[0]["num_candidates"] == 3
        assert texts(await client.inline(URI, 0, 4, kind=2)) == ["one", "two"]
        assert len(fills(client)) == 1


async def test_old_clients_count_trigger_kinds_from_zero() -> None:
    """vscode-languageclient 9: pygls never answered its kind 0, and its 1 means automatic."""
    async with editing("x = \n", Say(text=" ")) as client:
        for kind in (1, 0, 1, 2):
            await client.inline(URI, 0, 4, kind=kind)
        assert [asked["num_candidates"] for asked in fills(client)] == [3, 3, 1, 1]


async def test_any_position_in_any_text_gets_a_range_inside_its_line() -> None:
    """Row 15 (helix#9624): a range with its start after its end crashed the editor."""
    rng = random.Random(1)
    text = "a = [(😀\r\n\r)}]é\n\n\ufeff\tfoo(bar(baz()))"
    lengths = [len(line.encode()) for line in ("a = [(😀", "", ")}]é", "", "\ufeff\tfoo(bar(baz()))")]
    async with editing(text, Say(text="x)]) y\nz")) as client:
        for _ in range(60):
            result = await client.inline(URI, rng.randrange(7), rng.randrange(30))
            for item in result["items"]:
                start, end = item["range"]["start"], item["range"]["end"]
                assert start["line"] == end["line"]
                assert 0 <= start["character"] <= end["character"] <= lengths[start["line"]]
        assert await client.inline(URI, 10**9, 10**9)


async def test_form_feeds_and_line_separators_keep_the_texts_equal() -> None:
    """Row 8 (hermes-agent#45393): a form feed in the file put the server out of step."""
    async with editing("a = 1\x0c\ns='\u2028'\nfoo\x85\n", Say(text=" ")) as client:
        client.change(URI, 2, "bar", at=(2, 3, 2, 3))
        client.change(URI, 3, "\u2029", at=(1, 3, 1, 6))
        await client.inline(URI, 2, 6)
        asked = fills(client)[0]
        assert asked["prefix"] + "|" + asked["suffix"] == "a = 1\x0c\ns='\u2029'\nfoobar|\x85\n"


async def test_the_deadline_and_the_limits_reach_the_engine() -> None:
    options = {"deadlineMs": 700, "maxTokens": 9, "mode": "block"}
    async with editing("x = \n", Say(text=" "), options=options) as client:
        await client.inline(URI, 0, 4)
        await client.inline(URI, 0, 4, kind=1)
        automatic, invoked = fills(client)
        assert (automatic["deadline_s"], automatic["max_tokens"], automatic["mode"]) == (0.7, 9, "block")
        assert invoked["deadline_s"] == pytest.approx(2.1)
