"""An editor as the protocol sees it: it keeps a text, applies the server's edits to it and tells the server of them.

async with Editor.run("def f():\n    |\n", Say(text="return 1"), capabilities=VSCODE) as editor:
    result = await editor.command("midfill.fill", position=editor.cursor)
    assert editor.text == "def f():\n    return 1\n"
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import accumulate
from typing import Any

from support.lsp_client import NEOVIM, LspClient, Message
from support.lsp_session import URI, editing
from support.scripted_server import Say

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
EXECUTE = "workspace/executeCommand"

RESOLVING: Message = {
    "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "refactor.rewrite"]}},
    "dataSupport": True,
    "resolveSupport": {"properties": ["edit", "command"]},
}
ANNOTATING: Message = {"documentChanges": True, "changeAnnotationSupport": {"groupsOnLabel": True}}
DRAWING: Message = {"experimental": {"midfill": {"drafts": True}}}
PROGRESSING: Message = {"window": {"workDoneProgress": True}}

VSCODE: Message = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {"inlineCompletion": {"dynamicRegistration": True}, "codeAction": RESOLVING},
    "workspace": {"configuration": True, "applyEdit": True, "workspaceEdit": ANNOTATING},
    "window": {"workDoneProgress": True},
}
NEOVIM_WHOLE: Message = {
    **NEOVIM,
    "textDocument": {"inlineCompletion": {"dynamicRegistration": False}, "codeAction": RESOLVING},
    "workspace": {"configuration": True, "applyEdit": True, "workspaceEdit": ANNOTATING},
    "window": {"workDoneProgress": True},
}
HELIX: Message = {
    "general": {"positionEncodings": ["utf-8", "utf-32", "utf-16"]},
    "textDocument": {"codeAction": RESOLVING},
    "workspace": {"configuration": True, "applyEdit": True, "workspaceEdit": {"documentChanges": True}},
}
EMACS: Message = {
    "general": {"positionEncodings": ["utf-32", "utf-8", "utf-16"]},
    "textDocument": {
        "inlineCompletion": None,
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "refactor"]}}},
    },
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
}
BARE: Message = {}
"""A client that has nothing but the protocol's first version."""


def with_all(*capabilities: Message) -> Message:
    """Capabilities of a client that has all of these, one over the other."""
    together: Message = {}
    for each in capabilities:
        together |= each
    return together


class Editor:
    """One text in one client. `encoding`: in what it counts columns. `edits`: those it was asked to apply."""

    def __init__(self, client: LspClient, text: str, offset: int, encoding: str, uri: str = URI) -> None:
        self.client = client
        self.uri = uri
        self.text = text
        self.encoding = encoding
        self.version = 1
        self.edits: list[Message] = []
        self.refuses = False
        self.cursor = self.position(offset)
        client.answers["workspace/applyEdit"] = self._on_apply

    @classmethod
    @asynccontextmanager
    async def run(
        cls, marked: str, *answers: Say, capabilities: Message = VSCODE, uri: str = URI, **script: Any
    ) -> AsyncIterator[Editor]:
        """Open a text whose cursor is marked with `|`, if it has one."""
        before, _, after = marked.partition("|")
        offered = capabilities.get("general", {}).get("positionEncodings", ["utf-16"])
        async with editing(before + after, *answers, uri=uri, capabilities=capabilities, **script) as client:
            yield cls(client, before + after, len(before), offered[0], uri)

    # What people do.

    async def command(self, name: str, **argument: Any) -> Any:
        """Run a command on this document."""
        return await self.client.result(self.ask_command(name, **argument))

    def ask_command(self, name: str, **argument: Any) -> int:
        params = {"command": name, "arguments": [{"textDocument": {"uri": self.uri}} | argument]}
        return self.client.ask(EXECUTE, params)

    async def actions(self, span: Message, **context: Any) -> list[Message]:
        """The menu at a range."""
        params = {
            "textDocument": {"uri": self.uri},
            "range": span,
            "context": {"diagnostics": [], "triggerKind": 1} | context,
        }
        result: list[Message] = await self.client.request("textDocument/codeAction", params)
        return result

    async def choose(self, action: Message) -> None:
        """Choose from the menu, as this client would do it."""
        if "edit" not in action and "data" in action:
            action = await self.client.request("codeAction/resolve", action)
        if action.get("edit"):
            self.apply(action["edit"])
        command = action.get("command")
        if isinstance(command, dict):
            await self.client.request(EXECUTE, command)
        elif command:
            await self.client.request(EXECUTE, {"command": command, "arguments": action["arguments"]})

    def type(self, text: str, at: int, until: int | None = None) -> None:
        """Put a text in place of what is between two offsets."""
        span = self.range(at, at if until is None else until)
        self._change([(span, text)])

    # What the text is.

    def position(self, offset: int) -> Message:
        lines = LINE.findall(self.text[:offset])
        last = lines[-1] if lines and not lines[-1].endswith(("\r", "\n")) else ""
        codec, width = CODECS[self.encoding]
        return {"line": len(lines) - bool(last), "character": len(last.encode(codec)) // width}

    def range(self, start: int, end: int) -> Message:
        return {"start": self.position(start), "end": self.position(end)}

    def range_of(self, text: str) -> Message:
        """The range of the first place where a text stands."""
        start = self.text.index(text)
        return self.range(start, start + len(text))

    def offset(self, position: Message) -> int:
        lines = [*LINE.findall(self.text), ""]
        starts = [0, *accumulate(map(len, lines))]
        body = lines[position["line"]].rstrip("\r\n")
        codec, width = CODECS[self.encoding]
        units = body.encode(codec)
        assert 0 <= position["character"] * width <= len(units), position
        return starts[position["line"]] + len(units[: position["character"] * width].decode(codec))

    # What the server has it do.

    def apply(self, edit: Message) -> None:
        """Apply a workspace edit, as one change that is told to the server."""
        assert set(edit) & {"changes", "documentChanges"}, edit
        self.edits.append(edit)
        if "documentChanges" in edit:
            (change,) = edit["documentChanges"]
            assert change["textDocument"] == {"uri": self.uri, "version": self.version}, change
            edits = change["edits"]
        else:
            ((uri, edits),) = edit["changes"].items()
            assert uri == self.uri
        self._change([(each["range"], each["newText"]) for each in edits])

    def _change(self, edits: list[tuple[Message, str]]) -> None:
        offsets = [(self.offset(span["start"]), self.offset(span["end"]), span, text) for span, text in edits]
        changes, end_before = [], len(self.text) + 1
        for start, end, span, text in sorted(offsets, key=lambda each: each[0], reverse=True):
            assert start <= end <= end_before, edits
            end_before = start
            changes.append({"range": span, "text": text})
            self.text = self.text[:start] + text + self.text[end:]
        self.version += 1
        document = {"uri": self.uri, "version": self.version}
        self.client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def _on_apply(self, params: Message) -> Message:
        if self.refuses:
            self.edits.append(params["edit"])
            return {"applied": False, "failureReason": "I would rather not"}
        self.apply(params["edit"])
        return {"applied": True}
