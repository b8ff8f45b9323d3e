"""pygls' protocol, made tolerant of clients and silent towards people.

What is changed, and why: every request gets a reply even if its params make no sense (pygls says nothing and the
client waits for ever); documents are ours (pygls splits lines elsewhere than the protocol does); `initialize` has been
answered by the handshake; after `shutdown` requests are refused, not ignored; unknown notifications are no event.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol, default_converter

from midfill_server.handshake import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, is_id, parsed
from midfill_server.logs import REQUEST
from midfill_server.trigger_kinds import TriggerKinds

logger = logging.getLogger(__name__)

METHOD_NOT_FOUND = -32601
BUILT_IN = frozenset({types.INITIALIZE, types.INITIALIZED, types.SHUTDOWN, types.SET_TRACE})
HELLO_ID = "midfill-hello"
SHORT_NAMES = {types.TEXT_DOCUMENT_INLINE_COMPLETION: "inline", types.TEXT_DOCUMENT_COMPLETION: "completion"}


def make_converter() -> Converter:
    """lsprotocol's converter, with the trigger kinds of all clients."""
    converter: Converter = default_converter()
    kinds = TriggerKinds()

    def kind_of(value: Any, _type: object) -> types.InlineCompletionTriggerKind:
        return types.InlineCompletionTriggerKind(2 if kinds.is_automatic(value) else 1)

    converter.register_structure_hook(types.InlineCompletionTriggerKind, kind_of)
    return converter


class MidfillProtocol(LanguageServerProtocol):
    """Receives bodies of messages and answers every request. `on_arrival` is called before each is handled."""

    on_arrival: Callable[[], None] = staticmethod(lambda: None)

    def welcome(self, encoding: str, has_notebooks: bool = False) -> None:
        """Let pygls know of the `initialize` that has been answered already."""
        general = {"positionEncodings": [encoding]}
        capabilities: dict[str, Any] = {"general": general}
        if has_notebooks:
            capabilities["notebookDocument"] = {"synchronization": {}}
        params = {"processId": None, "rootUri": None, "capabilities": capabilities}
        message = {"jsonrpc": "2.0", "id": HELLO_ID, "method": types.INITIALIZE, "params": params}
        self.handle_message(self.structure_message(message))

    def receive(self, body: bytes) -> None:
        """Handle one message of the client."""
        self.on_arrival()
        message = parsed(body)
        if message is None:
            self._refuse(None, PARSE_ERROR, "not a JSON object")
        elif "method" in message and "id" in message:
            self._receive_request(message)
        elif self._is_known(message):
            self._deliver(message)

    def _receive_request(self, message: dict[str, Any]) -> None:
        request_id, method = message["id"], message["method"]
        if not is_id(request_id):
            self._refuse(None, INVALID_REQUEST, "the id must be a number or a text")
        elif not isinstance(method, str) or message.get("jsonrpc") != "2.0":
            self._refuse(request_id, INVALID_REQUEST, "not a request of JSON-RPC 2.0")
        elif self._shutdown or method == types.INITIALIZE:
            self._refuse(request_id, INVALID_REQUEST, f"{method} cannot be asked now")
        elif not (self._has_handler(method) and self._is_request(method)):
            self._refuse(request_id, METHOD_NOT_FOUND, f"{method} is unknown")
        else:
            token = REQUEST.set(
                f"{SHORT_NAMES.get(method, method)} {request_id}"
            )  # what is begun for it keeps the name
            self._deliver(message)
            REQUEST.reset(token)

    def _is_known(self, message: dict[str, Any]) -> bool:
        """Whether a notification or a response is of any interest."""
        if message.get("jsonrpc") != "2.0":
            return False
        method = message.get("method")
        if method is None:
            return is_id(message.get("id")) and message["id"] in self._request_futures
        if method == types.CANCEL_REQUEST:
            params = message.get("params")
            return isinstance(params, dict) and is_id(params.get("id"))
        return isinstance(method, str) and self._has_handler(method)

    def _has_handler(self, method: str) -> bool:
        return method in self.fm.features or method in self.fm.builtin_features

    def _is_request(self, method: str) -> bool:
        """Whether the protocol has the method as a request: a notification with an id gets no reply from pygls."""
        return hasattr(self.get_message_type(method), "id")

    def _deliver(self, message: dict[str, Any]) -> None:
        """Hand a message to its handler; a request whose params make no sense is answered all the same."""
        method = message.get("method", "a response")
        try:
            self.handle_message(self.structure_message(dict(message)))
        except JsonRpcException:
            logger.warning("%s: the params cannot be understood", method)
            if "method" in message and "id" in message:
                self._refuse(message["id"], INVALID_PARAMS, f"{method}: the params cannot be understood")
            self._give_up_waiting(message)
        except Exception:
            logger.exception("%s: cannot be handled", method)

    def _give_up_waiting(self, message: dict[str, Any]) -> None:
        """A response that cannot be understood is a failure to whoever waits for it, who would wait for ever."""
        if "method" not in message and (future := self._request_futures.pop(message["id"], None)) is not None:
            future.set_exception(JsonRpcInvalidParams("the client's response cannot be understood"))

    def _refuse(self, request_id: Any, code: int, message: str) -> None:
        # Not by _send_response, which leaves out an id of null.
        self._send_data({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}})

    def _send_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        if msg_id != HELLO_ID:
            super()._send_response(msg_id, result, error)

    def _register_builtin_features(self) -> None:
        for method, handler in _builtins_of(self):
            if method in BUILT_IN:
                self.fm.add_builtin_feature(method, handler)


def _builtins_of(protocol: LanguageServerProtocol) -> list[tuple[str, Callable[..., Any]]]:
    names = [name for name in dir(type(protocol)) if name.startswith("lsp_")]
    handlers = [getattr(protocol, name) for name in names]
    return [(handler.method_name, handler) for handler in handlers if hasattr(handler, "method_name")]
