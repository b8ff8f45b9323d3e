"""What the client says of itself when it connects, as far as we need it.

Read from plain JSON by hand and with tolerance: a client that gets one of its hundred capabilities wrong is served all
the same, and nothing has to be imported to understand it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from midfill_server.positions import Encoding
from midfill_server.setting_rules import Fallback
from midfill_server.uris import uri_of


@dataclass(frozen=True, kw_only=True)
class ClientFacts:
    """`has_inline_completion` is also true of lsp-mode, which names the capability but gives it no value.

    `has_versioned_edits`: takes workspace edits as documentChanges. `confirms_edits`: shows annotated changes before it
    makes them. `has_action_literals`: takes code actions and not only commands. `resolves_actions`: asks for a code
    action's edit when it is chosen. `wants_drafts`: draws a block as it develops. `wants_status`: shows the status; to
    others it would be a notification that they do not know, and lsp-mode opens a window of warnings for each.
    `folders`: the workspace's, by their uris. `is_trusted`: what lies in them may be heeded.
    """

    name: str = ""
    version: str = ""
    process_id: int | None = None
    encoding: Encoding = Encoding.UTF16
    has_inline_completion: bool = False
    has_configuration: bool = False
    has_apply_edit: bool = False
    has_versioned_edits: bool = False
    confirms_edits: bool = False
    has_progress: bool = False
    has_notebooks: bool = False
    has_action_literals: bool = False
    resolves_actions: bool = False
    wants_drafts: bool = False
    wants_status: bool = False
    watches_files: bool = False
    is_trusted: bool = True
    folders: tuple[str, ...] = ()
    options: object = None

    def wants_completion(self, fallback: Fallback) -> bool:
        """Whether ordinary completion items are the way to show suggestions here."""
        if fallback is Fallback.AUTO:
            return not self.has_inline_completion
        return fallback is Fallback.ON


def facts_of(params: Mapping[str, object]) -> ClientFacts:
    """The facts in the params of `initialize`."""
    capabilities = _object(params.get("capabilities"))
    info = _object(params.get("clientInfo"))
    process_id = params.get("processId")
    document, workspace = _object(capabilities.get("textDocument")), _object(capabilities.get("workspace"))
    edits, actions = _object(workspace.get("workspaceEdit")), _object(document.get("codeAction"))
    ours = _object(_object(capabilities.get("experimental")).get("midfill"))
    return ClientFacts(
        name=_text(info.get("name")),
        version=_text(info.get("version")),
        process_id=process_id if isinstance(process_id, int) and process_id > 0 else None,
        encoding=_encoding(_object(capabilities.get("general")).get("positionEncodings")),
        has_inline_completion="inlineCompletion" in document,
        has_configuration=workspace.get("configuration") is True,
        has_apply_edit=workspace.get("applyEdit") is True,
        has_versioned_edits=edits.get("documentChanges") is True,
        confirms_edits=isinstance(edits.get("changeAnnotationSupport"), dict),
        has_progress=_object(capabilities.get("window")).get("workDoneProgress") is True,
        has_notebooks=isinstance(capabilities.get("notebookDocument"), dict),
        has_action_literals=isinstance(actions.get("codeActionLiteralSupport"), dict),
        resolves_actions=_resolves_edits(actions),
        wants_drafts=ours.get("drafts") is True,
        wants_status=ours.get("status") is True,
        watches_files=_object(workspace.get("didChangeWatchedFiles")).get("dynamicRegistration") is True,
        is_trusted=_is_trusted(_object(params.get("initializationOptions"))),
        folders=_folders(params),
        options=params.get("initializationOptions"),
    )


def _is_trusted(options: Mapping[str, object]) -> bool:
    """Whether what lies in the workspace may be heeded: yes, unless the client says no."""
    return False not in (options.get("isTrusted"), _object(options.get("midfill")).get("isTrusted"))


def _folders(params: Mapping[str, object]) -> tuple[str, ...]:
    """The uris of the workspace's folders, by the newest of three ways to tell them; Neovim may tell none."""
    told = params.get("workspaceFolders")
    uris = [_text(_object(folder).get("uri")) for folder in told] if isinstance(told, list) else []
    root, path = _text(params.get("rootUri")), _text(params.get("rootPath"))
    return tuple(filter(None, uris)) or ((root,) if root else (uri_of(path),) if path else ())


def _encoding(offered: object) -> Encoding:
    """The first of the client's encodings that we know; utf-16 is what everybody must know."""
    for name in offered if isinstance(offered, list) else []:
        if name in list(Encoding):
            return Encoding(name)
    return Encoding.UTF16


def _resolves_edits(actions: Mapping[str, object]) -> bool:
    """Whether a code action's edit may be told when it is chosen, and its data is kept until then."""
    properties = _object(actions.get("resolveSupport")).get("properties")
    return isinstance(properties, list) and "edit" in properties and actions.get("dataSupport") is True


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
