"""Short memory, over stdio: said once, and never the end of the server."""

from __future__ import annotations

from support.lsp_session import URI, editing, fills, messages_to_user, texts
from support.scripted_server import Say

NOTE = "memory is short: from now on the model sees less of the text"


async def test_a_fill_that_had_to_be_smaller_is_answered_and_said_once() -> None:
    """Row 21 (ollama#1952): running out of memory ended the engine, and nobody was told."""
    async with editing("x = \n", Say(text="1", note=NOTE), Say(text="2")) as client:
        assert texts(await client.inline(URI, 0, 4)) == ["1"]
        assert (await client.status(kind="Warning"))["message"] == NOTE
        client.change(URI, 2, "y = ", (0, 0, 0, 4))
        assert texts(await client.inline(URI, 0, 4)) == ["2"]
        warnings = [message for message in client.messages if message.get("params", {}).get("kind") == "Warning"]
        assert len(warnings) <= 1
        assert messages_to_user(client) == []


async def test_a_fill_for_which_memory_does_not_suffice_is_nothing_and_the_next_one_is_answered() -> None:
    """Row 21 (tabby#541, #648): after one failure every request failed until somebody restarted the server."""
    async with editing("x = \n", Say(error="ResourceError"), Say(text="2")) as client:
        assert await client.inline(URI, 0, 4) == {"items": []}
        assert "ResourceError" in (await client.status(kind="Warning"))["message"]
        client.change(URI, 2, "y = ", (0, 0, 0, 4))
        assert texts(await client.inline(URI, 0, 4)) == ["2"]
        await client.status(kind="Normal", busy=False)
        assert len(fills(client)) == 2
        assert messages_to_user(client) == []
