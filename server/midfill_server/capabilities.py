"""What the server tells of itself. A test holds it against what pygls makes of the registered features."""

from __future__ import annotations

from typing import Any

from midfill_engine import __version__
from midfill_server.positions import Encoding

NAME = "midfill"
DID_ACCEPT = "midfill.didAccept"
TRIGGER_CHARACTERS = [".", "(", "[", ",", "=", " ", ":"]


def initialize_result(encoding: Encoding, gives_completion: bool) -> dict[str, Any]:
    """The result of `initialize`."""
    capabilities: dict[str, Any] = {
        "positionEncoding": str(encoding),
        "textDocumentSync": {"openClose": True, "change": 2, "save": False},
        "inlineCompletionProvider": {},
        "executeCommandProvider": {"commands": [DID_ACCEPT]},
    }
    if gives_completion:
        capabilities["completionProvider"] = {"triggerCharacters": TRIGGER_CHARACTERS, "resolveProvider": False}
    return {"capabilities": capabilities, "serverInfo": {"name": NAME, "version": __version__}}
