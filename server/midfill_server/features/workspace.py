"""workspace/didChangeWorkspaceFolders and didChangeWatchedFiles: folders that come and go, and their midfill.toml.

A client that can watch files tells of changes; for others the files' dates are looked at now and then, in a thread.
"""

from __future__ import annotations

import asyncio

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from midfill_server.features.configuration import pull
from midfill_server.repository_file import NAME
from midfill_server.session import Session

LOOK_EVERY_S = 1.0


def register(server: LanguageServer, session: Session) -> None:
    """Keep the folders of `session`."""
    looking: list[asyncio.Task[None]] = []

    @server.feature(types.INITIALIZED)
    def initialized(_params: types.InitializedParams) -> None:
        pull(server, session)
        if session.facts.watches_files:
            _watch(server)
        elif session.facts.is_trusted:
            looking.append(asyncio.ensure_future(_look(session)))

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        added, removed = params.event.added, params.event.removed
        session.settings_for.change_folders([folder.uri for folder in added], [folder.uri for folder in removed])
        session.completer.forget()
        pull(server, session)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_files(_params: types.DidChangeWatchedFilesParams) -> None:
        read_again(session)


def read_again(session: Session) -> None:
    """What has changed in a midfill.toml holds from the next request on."""
    if session.settings_for.read_files():
        session.completer.forget()


def _watch(server: LanguageServer) -> None:
    watcher = types.FileSystemWatcher(glob_pattern=f"**/{NAME}")
    options = types.DidChangeWatchedFilesRegistrationOptions(watchers=[watcher])
    method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    registration = types.Registration(id="midfill-toml", method=method, register_options=options)
    params = types.RegistrationParams(registrations=[registration])
    server.protocol.send_request(types.CLIENT_REGISTER_CAPABILITY, params)


async def _look(session: Session) -> None:
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        if session.settings_for.is_stale(await asyncio.to_thread(session.settings_for.stamps)):
            read_again(session)
