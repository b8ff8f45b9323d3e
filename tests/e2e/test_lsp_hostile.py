"""Messages that make no sense: every request gets a reply that is one, nothing pops up, the server goes on."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from support.lsp_client import INLINE, LspClient, LspError, inline_params
from support.lsp_session import URI, editing, messages_to_user, texts
from support.scripted_server import Say, scripted_server

INVALID_REQUEST, NOT_FOUND, INVALID_PARAMS, PARSE_ERROR = -32600, -32601, -32602, -32700


async def check_alive(client: LspClient) -> None:
    """Still at one's service, and nothing has popped up."""
    assert texts(await client.inline(URI, 0, 4)) == ["1"]
    assert messages_to_user(client) == []


async def code_of(client: LspClient, method: str, params: Any) -> int:
    with pytest.raises(LspError) as caught:
        await client.request(method, params)
    return caught.value.code


NO_PARAMS_FOR_GHOST_TEXT: list[Any] = [
    None,
    [],
    "x",
    {},
    {"textDocument": {"uri": URI}},
    {**inline_params(URI, 0, 4), "position": {"line": "one", "character": 4}},
    {**inline_params(URI, 0, 4), "position": {"line": None}},
    {**inline_params(URI, 0, 4), "context": None},
    {**inline_params(URI, 0, 4), "context": {}},
    {**inline_params(URI, 0, 4), "textDocument": []},
]


async def test_params_that_cannot_be_understood_are_answered() -> None:
    """pygls said nothing at all, and the client waited for ever. Row 16 (lsp-ai#56)."""
    async with editing("x = \n", Say(text="1")) as client:
        for params in NO_PARAMS_FOR_GHOST_TEXT:
            assert await code_of(client, INLINE, params) == INVALID_PARAMS, params
        await check_alive(client)


async def test_unknown_and_untimely_methods() -> None:
    async with editing("x = \n", Say(text="1")) as client:
        assert await code_of(client, "textDocument/hover", {}) == NOT_FOUND
        assert await code_of(client, "$/unknown", None) == NOT_FOUND
        assert await code_of(client, "initialize", {"capabilities": {}}) == INVALID_REQUEST
        assert await code_of(client, "workspace/executeCommand", {"command": "rm"}) == INVALID_PARAMS
        client.notify("textDocument/didShowCompletion", {"item": {}})
        client.notify("$/unknown")
        client.notify("textDocument/didSave", {"textDocument": {"uri": URI}})
        client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": []}})
        await check_alive(client)
        await client.request("shutdown")
        assert await code_of(client, INLINE, inline_params(URI, 0, 4)) == INVALID_REQUEST


async def test_what_is_no_request() -> None:
    async with editing("x = \n", Say(text="1")) as client:
        for body in (b"", b"{", b"[]", b"null", b"\xff\xfe", b'"x"', b"[" * 100_000):
            client.send_body(body)
        for request_id in (None, [], {}, 1.5, True):
            client.send({"jsonrpc": "2.0", "id": request_id, "method": INLINE, "params": inline_params(URI, 0, 4)})
        client.send({"id": "old", "method": INLINE, "params": inline_params(URI, 0, 4)})
        client.send({"jsonrpc": "2.0", "id": "odd", "method": 5})
        client.send({"jsonrpc": "2.0", "id": "nobody", "result": 1})
        client.send({"jsonrpc": "2.0", "id": "nobody", "error": "x"})
        client.send({"jsonrpc": "2.0"})
        await check_alive(client)
        errors = [(message["id"], message["error"]["code"]) for message in client.messages if "error" in message]
        assert errors == [(None, PARSE_ERROR)] * 7 + [(None, INVALID_REQUEST)] * 5 + [
            ("old", INVALID_REQUEST),
            ("odd", INVALID_REQUEST),
        ]


async def test_ids_come_back_as_they_went() -> None:
    """Row 16: ids are numbers or texts."""
    async with editing("x = \n", Say(text="1")) as client:
        for request_id in ("text", "7", -1, 0, 2**40):
            client.send({"jsonrpc": "2.0", "id": request_id, "method": INLINE, "params": inline_params(URI, 0, 4)})
            assert texts(await client.result(request_id)) == ["1"]


async def test_notifications_about_what_is_not_there() -> None:
    """A change of an unknown document opened a message box."""
    async with editing("x = \n", Say(text="1")) as client:
        client.change("file:///nope", 1, "x", at=(0, 0, 0, 0))
        client.notify("textDocument/didClose", {"textDocument": {"uri": "file:///nope"}})
        for method in ("didOpen", "didChange", "didClose"):
            for params in (None, {}, [], {"textDocument": {}}, {"textDocument": {"uri": 5}}):
                client.notify(f"textDocument/{method}", params)
        client.change(URI, 2, "x", at=(-1, -5, 0, 0))
        client.change(URI, 3, "", at=(0, 0, 0, 1))
        await check_alive(client)


async def test_headers_in_small_letters_and_extra_headers() -> None:
    """A lower-case header made pygls wait for ever."""
    async with editing("x = \n", Say(text="1")) as client:
        body = json.dumps({"jsonrpc": "2.0", "id": "s", "method": INLINE, "params": inline_params(URI, 0, 4)}).encode()
        client.send_bytes(b"content-type: application/vscode-jsonrpc; charset=utf8\r\n")
        client.send_bytes(b"content-length: %d\r\n\r\n%b" % (len(body), body))
        assert texts(await client.result("s")) == ["1"]


async def test_a_length_without_sense_ends_the_server() -> None:
    async with LspClient.run(scripted_server()) as client:
        await client.initialize()
        client.send_bytes(b"Content-Length: 99999999999999999999\r\n\r\n{}")
        code, _took_s = await client.ended()
        assert code == 1


async def test_bits_of_messages_in_any_order_do_no_harm() -> None:
    """A seeded fuzz over shapes and orders: every request with an id that is one gets exactly one reply."""
    rng = random.Random(7)
    values: list[Any] = [
        None,
        True,
        -1,
        1.5,
        "x",
        URI,
        [],
        {},
        {"uri": URI},
        {"line": 0, "character": 99},
        [[]],
        "\ud800",
    ]
    keys = ["textDocument", "position", "context", "contentChanges", "settings", "command", "arguments", "id", "value"]
    methods = [
        *(INLINE, "textDocument/completion", "textDocument/didOpen", "textDocument/didChange", "textDocument/didClose"),
        *("workspace/executeCommand", "workspace/didChangeConfiguration", "$/cancelRequest", "$/setTrace", "x"),
        *("initialized", "window/workDoneProgress/cancel"),
    ]
    async with editing("x = \n", Say(text="1")) as client:
        asked = []
        for number in range(400):
            params = {key: rng.choice(values) for key in rng.sample(keys, rng.randint(0, 4))}
            message = {
                "jsonrpc": "2.0",
                "method": rng.choice(methods),
                "params": rng.choice([params, params, None, []]),
            }
            if rng.random() < 0.6:
                asked.append(f"fuzz {number}")
                message["id"] = asked[-1]
            client.send(message)
        for request_id in asked:
            await client.message(lambda message, request_id=request_id: message.get("id") == request_id)
        client.open(URI, "x = \n")
        await check_alive(client)
        answered = [message["id"] for message in client.messages if str(message.get("id")).startswith("fuzz")]
        assert sorted(answered) == sorted(asked)
