"""Anything at all, in any order: each request that is one gets one reply, and the reply has the protocol's shape.

Requests of every method that the server announces are made from a sound one by breaking it somewhere. What comes back
is read by the protocol library's own types. The seed is fixed, so that a failure can be seen again.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from lsprotocol import converters, types

from support.editor import ANNOTATING, RESOLVING
from support.lsp_client import LspClient, Message
from support.lsp_session import URI, editing, messages_to_user, texts
from support.scripted_server import Say

METHODS: dict[str, tuple[str, ...]] = {
    "positionEncoding": (),
    "textDocumentSync": (),
    "inlineCompletionProvider": ("textDocument/inlineCompletion",),
    "completionProvider": ("textDocument/completion",),
    "codeActionProvider": ("textDocument/codeAction", "codeAction/resolve"),
    "executeCommandProvider": ("workspace/executeCommand",),
    "notebookDocumentSync": (),
    "workspace": (),
}
"""The requests behind every capability."""

EVERYTHING: Message = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {"inlineCompletion": {}, "codeAction": RESOLVING},
    "workspace": {"configuration": True, "applyEdit": True, "workspaceEdit": ANNOTATING},
    "window": {"workDoneProgress": True},
    "experimental": {"midfill": {"drafts": True}},
}
TEXT = "def f(a):\n    x = \n    pass  # 😀\n"
PLACE = {"textDocument": {"uri": URI}, "position": {"line": 1, "character": 8}}
RANGE = {"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 8}}
ODD: list[Any] = [
    *(None, True, -1, 0, 2**31 - 1, 2**63, 1.5, 1e300, "", "x", "\ud800", "\x00", URI, "file:///nope", "git:/x", "%%%"),
    *([], {}, [[]], [None], {"uri": None}, {"line": -1, "character": -1}, "y" * 100_000, [0] * 1000),
]


def sound_requests(commands: list[str]) -> list[tuple[str, Message]]:
    """One good request of each kind."""
    of_commands = [
        ("workspace/executeCommand", {"command": command, "arguments": [PLACE | {"range": RANGE}]})
        for command in commands
    ]
    asked = {"textDocument": {"uri": URI}, "range": RANGE, "context": {"diagnostics": []}}
    action = {"title": "x", "kind": "refactor.rewrite", "data": {"command": "midfill.rewrite", "argument": asked}}
    return [
        ("textDocument/inlineCompletion", PLACE | {"context": {"triggerKind": 1}}),
        ("textDocument/completion", PLACE),
        ("textDocument/codeAction", asked),
        ("codeAction/resolve", action),
        *of_commands,
    ]


def broken(rng: random.Random, value: Any) -> Any:
    """The same, wrong in one to three places."""
    value = copy.deepcopy(value)
    for _time in range(rng.randint(1, 3)):
        value = _with_a_fault(rng, value)
    return value


def _with_a_fault(rng: random.Random, value: Any) -> Any:
    """Something odd in a place of it, at any depth; a field more, or a field less."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.2:
        return copy.deepcopy(rng.choice(ODD))
    key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
    chance = rng.random()
    if chance < 0.15:
        del value[key]
    elif chance < 0.25 and isinstance(value, dict):
        value[rng.choice(["x", "uri", "kind", "workDoneToken"])] = copy.deepcopy(rng.choice(ODD))
    else:
        value[key] = _with_a_fault(rng, value[key])
    return value


def pieces(rng: random.Random, message: Message) -> Iterator[bytes]:
    """A message as bytes that come in bits, with a header that a careful reader still understands."""
    body = json.dumps(message).encode()
    name = rng.choice([b"Content-Length", b"content-length", b"CONTENT-LENGTH"])
    extra = rng.choice([b"", b"X-Odd: 1\r\n", b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"])
    data = extra + name + b": %d\r\n\r\n" % len(body) + body
    cut = rng.randrange(len(data)) if rng.random() < 0.2 else len(data)
    yield data[:cut]
    yield data[cut:]


async def say(client: LspClient, rng: random.Random, message: Message) -> None:
    for piece in pieces(rng, message):
        client.send_bytes(piece)
        assert client.process.stdin is not None
        await client.process.stdin.drain()


def check_reply(method: str, reply: Message) -> None:
    """What the protocol says of a reply: a result or an error, of the right type."""
    assert set(reply) in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"}), reply
    assert reply["jsonrpc"] == "2.0"
    if "error" in reply:
        assert type(reply["error"]["code"]) is int, reply
        assert isinstance(reply["error"]["message"], str), reply
    else:
        converters.get_converter().structure(reply, types.METHOD_TO_TYPES[method][1])


async def replies(client: LspClient, asked: dict[int | str, str]) -> None:
    """Wait for all; each has one and the right one."""
    for request_id in asked:
        await client.message(lambda message, wanted=request_id: _is_reply(message, wanted))
    for request_id, method in asked.items():
        found = [message for message in client.messages if _is_reply(message, request_id)]
        assert len(found) == 1, found
        check_reply(method, found[0])


def _is_reply(message: Message, request_id: int | str) -> bool:
    return "method" not in message and message["id"] == request_id and type(message["id"]) is type(request_id)


async def check_alive(client: LspClient) -> None:
    """Still at one's service, and nothing has popped up."""
    client.open(URI, "x = \n")
    assert texts(await client.inline(URI, 0, 4, kind=1)) == ["1"]
    assert messages_to_user(client) == []


async def announced(client: LspClient) -> tuple[dict[str, Any], set[str]]:
    """The capabilities and the methods behind them. One that is new has to be added to this test."""
    hello = next(message for message in client.messages if "capabilities" in (message.get("result") or {}))
    capabilities = hello["result"]["capabilities"]
    return capabilities, {method for name in capabilities for method in METHODS[name]}


@pytest.mark.parametrize("seed", range(3))
async def test_every_announced_request_broken_anywhere_gets_one_sound_reply(seed: int) -> None:
    """Row 16 (lsp-ai#56): a reply that was no JSON-RPC on some path, and the client killed the server."""
    rng = random.Random(seed)
    options = {"completionFallback": "on"}
    async with editing(TEXT, Say(text="1"), options=options, capabilities=EVERYTHING) as client:
        capabilities, methods = await announced(client)
        sound = sound_requests(capabilities["executeCommandProvider"]["commands"])
        assert {method for method, _params in sound} == methods
        asked: dict[int | str, str] = {}
        for number in range(150):
            method, params = rng.choice(sound)
            params = broken(rng, params) if rng.random() < 0.8 else params
            request_id = rng.choice([f"s{number}", 10_000 + number, -number - 1, str(number)])
            asked[request_id] = method
            await say(client, rng, {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
            if rng.random() < 0.2:
                await say(client, rng, cancelling(rng, request_id))
            if rng.random() < 0.2:
                await say(client, rng, changed(rng, number))
        await replies(client, asked)
        await check_alive(client)


def cancelling(rng: random.Random, request_id: int | str) -> Message:
    wanted = rng.choice([request_id, request_id, *ODD])
    return {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": wanted}}


def changed(rng: random.Random, version: int) -> Message:
    """A change of the text, sound or not."""
    params = {"textDocument": {"uri": URI, "version": version}, "contentChanges": [{"range": RANGE, "text": "x = "}]}
    given = broken(rng, params) if rng.random() < 0.5 else params
    return {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": given}


async def test_a_sound_request_of_each_kind_has_a_sound_result() -> None:
    """What the fuzz holds its replies against is in order: unbroken, every request gets a result."""
    options = {"completionFallback": "on"}
    async with editing(TEXT, Say(text="1"), options=options, capabilities=EVERYTHING) as client:
        capabilities, _methods = await announced(client)
        for method, params in sound_requests(capabilities["executeCommandProvider"]["commands"]):
            if method != "codeAction/resolve":  # what can be resolved comes from a menu
                reply_id = client.ask(method, params)
                await replies(client, {reply_id: method})
                await client.result(reply_id)


async def test_each_action_of_a_menu_is_resolved_to_a_sound_action() -> None:
    async with editing(TEXT, Say(text="1"), capabilities=EVERYTHING) as client:
        asked = {"textDocument": {"uri": URI}, "range": RANGE, "context": {"diagnostics": []}}
        menu = await client.request("textDocument/codeAction", asked)
        assert menu
        for action in menu:
            await replies(client, {client.ask("codeAction/resolve", action): "codeAction/resolve"})


async def test_bytes_that_are_no_messages_in_between() -> None:
    """Batches, wrong JSON, huge and empty bodies: a sound request behind them is answered, and they with an error."""
    rng = random.Random(5)
    batch = json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}] * 3).encode()
    huge = json.dumps({"jsonrpc": "2.0", "method": "x", "params": ["z" * 3_000_000]}).encode()
    bodies = [batch, b"[1, 2]", b"{}", b"{", b"nul", b'{"jsonrpc": "2.0"', b"\xff" * 50, b"", huge, b"[" * 50_000]
    async with editing("x = \n", Say(text="1")) as client:
        for number in range(60):
            client.send_body(rng.choice(bodies))
            if number % 10 == 0:
                await check_alive(client)
        await check_alive(client)
        errors = [message for message in client.messages if "error" in message]
        assert errors
        assert all(type(error["error"]["code"]) is int and error["id"] is None for error in errors)
