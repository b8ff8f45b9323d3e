"""An editor for hours: it keeps no message longer than it must, and knows of every request what became of it."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

from soak.keys import Edit, Page
from support.lsp_client import LspClient, Message, inline_params

AUTOMATIC = 2
LOOK_S = 4.0


class SoakEditor(LspClient):
    """A client that asks for ghost text after every key."""

    def __init__(self, process: asyncio.subprocess.Process, events: asyncio.StreamReader) -> None:
        super().__init__(process, events)
        self.pending: dict[int, tuple[float, Page, int]] = {}
        self.latencies_ms: list[float] = []
        self.num_asked = self.num_cancelled = self.num_errors = self.num_offered = self.num_accepted = 0
        self.shown: tuple[Page, int, Message] | None = None

    def open_page(self, page: Page) -> None:
        self.open(page.uri, page.text)

    def press(self, page: Page, edit: Edit) -> None:
        """Change the text here and there."""
        span = {"start": page.position(edit.start), "end": page.position(edit.end)}
        page.apply(edit)
        document = {"uri": page.uri, "version": page.version}
        changes = [{"range": span, "text": edit.text}]
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def ask_for(self, page: Page) -> int:
        at = page.position(page.cursor)
        request_id = self.ask_inline(page.uri, at["line"], at["character"], AUTOMATIC)
        self.pending[request_id] = (time.perf_counter(), page, page.version)
        self.num_asked += 1
        return request_id

    def cancel(self, request_id: int) -> None:
        self.num_cancelled += 1
        self.notify("$/cancelRequest", {"id": request_id})

    def accept(self) -> None:
        """Take what is shown, if the text has not changed since."""
        if self.shown is None:
            return
        page, version, item = self.shown
        self.shown = None
        if page.version == version:
            self.num_accepted += 1
            self._put_in(page, item)
            self.ask("workspace/executeCommand", item["command"])

    def _put_in(self, page: Page, item: Message) -> None:
        start = page.cursor
        width = item["range"]["end"]["character"] - page.position(start)["character"]
        end = start + len(page.text[start:].encode("utf-16-le")[: 2 * width].decode("utf-16-le"))
        self.press(page, Edit(start, end, item["insertText"].replace("\n", page.eol)))

    async def look(self, request_id: int) -> None:
        """Take the hands off the keys until there is an answer, for as long as people do."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_S), self._changed:
                await self._changed.wait_for(lambda: request_id not in self.pending)

    async def stats(self) -> Message:
        found: Message = await self.request("workspace/executeCommand", {"command": "midfill.stats", "arguments": [{}]})
        return found

    async def invoked(self, page: Page) -> Any:
        """Ask for ghost text at the very beginning, as with a key press."""
        return await self.request("textDocument/inlineCompletion", inline_params(page.uri, 0, 0, 1))

    async def all_answered(self, patience_s: float) -> int:
        """How many requests have had no answer after so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s), self._changed:
                await self._changed.wait_for(lambda: not self.pending)
        return len(self.pending)

    async def _keep(self, kept: list[Message], message: Message) -> None:
        asked = self.pending.pop(message["id"], None) if isinstance(message.get("id"), int) else None
        if asked is None or "method" in message:
            await super()._keep(kept, message)
        else:
            async with self._changed:
                self._answered(*asked, message)
                self._changed.notify_all()

    def _answered(self, began: float, page: Page, version: int, message: Message) -> None:
        self.num_errors += "error" in message
        items = (message.get("result") or {}).get("items", [])
        if items:
            self.num_offered += 1
            self.latencies_ms.append((time.perf_counter() - began) * 1000)
            self.shown = (page, version, items[0])
