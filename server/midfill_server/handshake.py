"""`initialize`, answered before anything heavy is imported.

The library that does the rest of the protocol takes a quarter of a second to import, for which an editor would wait
with its first keystroke. What `initialize` is answered with depends on nothing that is in there, so it is answered at
once and the library is imported while the client gets on with its own start.

Until a client has said `initialize` it gets errors for its requests, as the protocol demands, and may leave.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from midfill_server.capabilities import initialize_result
from midfill_server.client_facts import ClientFacts, facts_of
from midfill_server.framing import MessageWriter, read_body
from midfill_server.settings import Settings, parse, section_of

INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
PARSE_ERROR = -32700
NOT_INITIALIZED = -32002


@dataclass(frozen=True)
class Hello:
    """A client that has been answered. `gives_completion`: it has been told of completion items."""

    facts: ClientFacts
    gives_completion: bool


def shake_hands(stream: BinaryIO, writer: MessageWriter) -> Hello | None:
    """Wait for `initialize` and answer it; None if the client leaves instead.

    Raises:
        FramingError: the stream cannot be followed.
    """
    while (body := read_body(stream)) is not None:
        message = parsed(body)
        if message is None:
            writer.send(error_body(None, PARSE_ERROR, "not a JSON object"))
        elif message.get("method") == "exit":
            return None
        elif "id" in message and "method" in message:
            hello = _answer(message, writer)
            if hello is not None:
                return hello
    return None


def _answer(message: Mapping[str, object], writer: MessageWriter) -> Hello | None:
    request_id, params = message["id"], message.get("params")
    if not is_id(request_id):
        writer.send(error_body(None, INVALID_REQUEST, "the id must be a number or a text"))
    elif message["method"] != "initialize":
        writer.send(error_body(request_id, NOT_INITIALIZED, "initialize comes first"))
    elif not isinstance(params, dict):
        writer.send(error_body(request_id, INVALID_PARAMS, "initialize needs params"))
    else:
        return _welcome(request_id, facts_of(params), writer)
    return None


def _welcome(request_id: object, facts: ClientFacts, writer: MessageWriter) -> Hello:
    settings = parse(section_of(facts.options) or {}, Settings(), _later)
    hello = Hello(facts, facts.wants_completion(settings.completion_fallback))
    result = initialize_result(facts.encoding, hello.gives_completion, facts.has_notebooks)
    writer.send(json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}).encode())
    return hello


def _later(_complaint: str) -> None:
    """Complaints about settings are made once, by who keeps them."""


def parsed(body: bytes) -> dict[str, object] | None:
    """The JSON object in a body; None if there is none."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def is_id(value: object) -> bool:
    """Whether something may be the id of a request."""
    return isinstance(value, int | str) and not isinstance(value, bool)


def error_body(request_id: object, code: int, message: str) -> bytes:
    """An error response."""
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}).encode()
