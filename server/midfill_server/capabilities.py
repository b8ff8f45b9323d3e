"""What the server tells of itself. A test holds it against what pygls makes of the registered features."""

from __future__ import annotations

from typing import Any

from midfill_engine import __version__
from midfill_server.positions import Encoding

NAME = "midfill"
DID_ACCEPT = "midfill.didAccept"
FILL = "midfill.fill"
REWRITE = "midfill.rewrite"
FILL_HOLE = "midfill.fillHole"
FILL_HOLES = "midfill.fillHoles"
NEXT_DRAFT = "midfill.nextDraft"
WRITE_TEST = "midfill.writeTest"
DOCSTRING = "midfill.docstring"
MODELS = "midfill.models"
STATS = "midfill.stats"
EDITING = (FILL, REWRITE, FILL_HOLE, FILL_HOLES, NEXT_DRAFT, WRITE_TEST, DOCSTRING)
COMMANDS = (DID_ACCEPT, STATS, *EDITING, MODELS)
ACTION_KINDS = ["refactor", "refactor.rewrite"]
TRIGGER_CHARACTERS = [".", "(", "[", ",", "=", " ", ":"]


def initialize_result(encoding: Encoding, gives_completion: bool, has_notebooks: bool = False) -> dict[str, Any]:
    """The result of `initialize`."""
    capabilities: dict[str, Any] = {
        "positionEncoding": str(encoding),
        "textDocumentSync": {"openClose": True, "change": 2, "save": False},
        "inlineCompletionProvider": {},
        "codeActionProvider": {"codeActionKinds": ACTION_KINDS, "resolveProvider": True},
        "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}, "fileOperations": {}},
        "executeCommandProvider": {"commands": list(COMMANDS)},
    }
    if has_notebooks:
        capabilities["notebookDocumentSync"] = {"notebookSelector": [{"notebook": "*"}]}
    if gives_completion:
        capabilities["completionProvider"] = {"triggerCharacters": TRIGGER_CHARACTERS, "resolveProvider": False}
    return {"capabilities": capabilities, "serverInfo": {"name": NAME, "version": __version__}}
