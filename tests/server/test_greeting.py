"""From the first byte to a greeted client: framing, what clients say of themselves, and the early answer."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_server.capabilities import initialize_result
from midfill_server.client_facts import ClientFacts, facts_of
from midfill_server.engine_link import EngineDoor
from midfill_server.framing import FramingError, MessageWriter, read_body
from midfill_server.handshake import shake_hands
from midfill_server.language_server import make_server
from midfill_server.positions import Encoding
from midfill_server.session import make_session
from midfill_server.setting_rules import Fallback
from midfill_server.trigger_kinds import TriggerKinds


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n\r\n",
        b"content-length:2\r\n\r\n",
        b"CONTENT-LENGTH: 2 \n\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: 2\r\n\r\n",
        b"\r\nX: y\r\n\r\nContent-Length: 2\r\n\r\n",
    ],
)
def test_headers_are_read_as_clients_write_them(header: bytes) -> None:
    """A small letter in the header's name made pygls wait for ever."""
    stream = io.BytesIO(header + b"{}" + header + b"[]")
    assert [read_body(stream), read_body(stream), read_body(stream)] == [b"{}", b"[]", None]


@pytest.mark.parametrize("length", [b"two", b"-1", b"", b"9" * 30, b"999999999"])
def test_a_length_without_sense_ends_the_conversation(length: bytes) -> None:
    with pytest.raises(FramingError):
        read_body(io.BytesIO(b"Content-Length: " + length + b"\r\n\r\n{}"))


def test_half_a_message_is_none() -> None:
    assert read_body(io.BytesIO(b"Content-Length: 5\r\n\r\n{}")) is None
    assert read_body(io.BytesIO(b"Content-Len")) is None


def test_writing_to_a_client_that_is_gone_is_no_event() -> None:
    """pygls reported the failed write to the client, which failed, which it reported..."""
    stream = io.BytesIO()
    writer = MessageWriter(stream)
    writer.send(b"{}")
    assert stream.getvalue() == b"Content-Length: 2\r\n\r\n{}"
    stream.close()
    writer.send(b"{}")
    writer.send(b"{}")


NEOVIM = {"general": {"positionEncodings": ["utf-8", "utf-16"]}, "textDocument": {"inlineCompletion": {}}}
EMACS = {"general": {"positionEncodings": ["utf-32", "utf-8"]}, "textDocument": {"inlineCompletion": None}}
HELIX = {"general": {"positionEncodings": ["utf-8", "utf-32"]}, "workspace": {"configuration": True}}


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        (NEOVIM, ClientFacts(encoding=Encoding.UTF8, has_inline_completion=True)),
        (EMACS, ClientFacts(encoding=Encoding.UTF32, has_inline_completion=True)),
        (HELIX, ClientFacts(encoding=Encoding.UTF8, has_configuration=True)),
        ({}, ClientFacts()),
        ({"experimental": {"midfill": {"status": True}}}, ClientFacts(wants_status=True)),
        ({"experimental": {"midfill": {"drafts": True, "status": 1}}}, ClientFacts(wants_drafts=True)),
        ({"general": {"positionEncodings": ["utf-7", "utf-16"]}}, ClientFacts()),
        ({"general": {"positionEncodings": None}, "textDocument": 1, "workspace": []}, ClientFacts()),
        (None, ClientFacts()),
    ],
)
def test_what_clients_say_of_themselves(capabilities: Any, expected: ClientFacts) -> None:
    assert facts_of({"capabilities": capabilities}) == expected


def test_completion_items_are_for_clients_without_inline_completion() -> None:
    """Row 29, and Tabby's rule."""
    with_inline, without = ClientFacts(has_inline_completion=True), ClientFacts()
    assert [facts.wants_completion(Fallback.AUTO) for facts in (with_inline, without)] == [False, True]
    assert [facts.wants_completion(Fallback.ON) for facts in (with_inline, without)] == [True, True]
    assert [facts.wants_completion(Fallback.OFF) for facts in (with_inline, without)] == [False, False]


def framed(*messages: object) -> io.BytesIO:
    stream = io.BytesIO()
    for message in messages:
        MessageWriter(stream).send(json.dumps(message).encode())
    stream.seek(0)
    return stream


def replies(stream: io.BytesIO) -> list[dict[str, Any]]:
    stream.seek(0)
    found = []
    while (body := read_body(stream)) is not None:
        found.append(json.loads(body))
    return found


def test_before_initialize_requests_are_refused_and_a_client_may_leave() -> None:
    out = io.BytesIO()
    early = {"jsonrpc": "2.0", "id": "a", "method": "shutdown"}
    hello = shake_hands(framed(early, {"method": "initialized"}, [1], {"method": "exit"}), MessageWriter(out))
    assert hello is None
    assert [(reply["id"], reply["error"]["code"]) for reply in replies(out)] == [("a", -32002), (None, -32700)]


@pytest.mark.parametrize("capabilities", [NEOVIM, EMACS, HELIX, {}, {"notebookDocument": {"synchronization": {}}}])
@pytest.mark.parametrize("options", [None, {"completionFallback": "on"}, {"completionFallback": "off"}])
def test_the_early_answer_is_what_pygls_makes_of_the_registered_features(
    capabilities: dict[str, Any], options: object
) -> None:
    """Two paths that must agree: the answer before pygls is imported, and pygls' own from the same features."""
    out = io.BytesIO()
    params = {"capabilities": capabilities, "initializationOptions": options}
    hello = shake_hands(
        framed({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}), MessageWriter(out)
    )
    assert hello is not None
    server = make_server(make_session(hello.facts, EngineDoor(), lambda status: None), hello.gives_completion)
    server.protocol.welcome(hello.facts.encoding, hello.facts.has_notebooks)
    theirs = json.loads(json.dumps(server.server_capabilities, default=server.protocol._serialize_message))
    theirs["workspace"].setdefault("fileOperations", {})
    assert replies(out)[0]["result"]["capabilities"] == theirs
    has_notebooks = hello.facts.has_notebooks
    assert initialize_result(hello.facts.encoding, hello.gives_completion, has_notebooks) == replies(out)[0]["result"]


def test_trigger_kinds_of_both_generations_of_clients() -> None:
    """vscode-languageclient 9 counts from 0, and pygls never answered its 0."""
    modern, old = TriggerKinds(), TriggerKinds()
    assert [modern.is_automatic(kind) for kind in (1, 2, 1)] == [False, True, False]
    assert [old.is_automatic(kind) for kind in (1, 0, 1, 0)] == [False, False, True, False]
    assert TriggerKinds().is_automatic("?")


def test_what_greets_a_client_imports_nothing_that_takes_time() -> None:
    """`initialize` is answered in a blink because of what is not imported before."""
    heavy = ("asyncio", "pygls", "lsprotocol", "attrs", "cattrs", "logging", "torch", "transformers", "httpx2")
    code = f"import sys, midfill_server.app; print([name for name in {heavy!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
KEYS = ("capabilities", "clientInfo", "processId", "initializationOptions", "general", "textDocument", "workspace")


@given(st.dictionaries(st.sampled_from(KEYS), JSON | st.dictionaries(st.sampled_from(KEYS), JSON)))
def test_whatever_a_client_says_it_is_greeted(params: dict[str, Any]) -> None:
    out = io.BytesIO()
    hello = shake_hands(
        framed({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}), MessageWriter(out)
    )
    assert hello is not None
    assert "result" in replies(out)[0]
