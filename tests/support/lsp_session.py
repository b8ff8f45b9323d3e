"""A client that has said hello and opened a document, and a server that is ready to suggest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from support.lsp_client import LspClient, Message
from support.scripted_server import Say, scripted_server

URI = "file:///work/example.py"
AT_ONCE = {"debounceMs": 0, "deadlineMs": 60_000}


@asynccontextmanager
async def editing(
    text: str,
    *answers: Say,
    uri: str = URI,
    options: Message | None = None,
    capabilities: Message | None = None,
    **script: Any,
) -> AsyncIterator[LspClient]:
    """A document being edited. The engine is ready unless its start is held or fails."""
    async with LspClient.run(scripted_server(*answers, **script)) as client:
        await client.initialize(capabilities, initializationOptions=AT_ONCE | (options or {}))
        client.open(uri, text)
        if not script:
            await client.status(kind="Normal", busy=False)
        yield client


def place(marked: str, encoding: str = "utf-8") -> tuple[str, int, int]:
    """A text with its cursor `|` taken out, and the cursor's line and character in the client's units."""
    before, after = marked.split("|")
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    codec = encoding if encoding == "utf-8" else f"{encoding}-le"
    line = before.replace("\r\n", "\n").count("\n")
    return before + after, line, len(before[before.rfind("\n") + 1 :].encode(codec)) // width


def fills(client: LspClient) -> list[Message]:
    """What the engine has been asked so far."""
    return [event for event in client.events if event["event"] == "fill"]


def texts(result: Message) -> list[str]:
    """What an answer offers."""
    return [item["insertText"] for item in result["items"]]


def messages_to_user(client: LspClient) -> list[Message]:
    """What would pop up in an editor."""
    return [message for message in client.messages if message.get("method", "").startswith("window/show")]
