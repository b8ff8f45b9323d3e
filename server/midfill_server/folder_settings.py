"""The settings in force for a document: those of the innermost workspace folder that it lies in.

    defaults ◀ midfill.toml ◀ initialization options ◀ the client's configuration, as it is for that folder

What users have set themselves goes over what a repository asks for; lists of what is off add up, so that neither side
can switch on what the other has switched off. Everything is worked out when it changes, so that a keystroke only looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from midfill_server import repository_file
from midfill_server.settings import Complain, Settings, SettingsStore, parse, section_of
from midfill_server.uris import is_inside, local_path, place_of

Read = Callable[[Path, Complain], Mapping[str, object]]


class FolderSettings:
    """Of one client. `is_trusted`: whether midfill.toml is looked at."""

    def __init__(self, store: SettingsStore, folders: Iterable[str], is_trusted: bool, complain: Complain) -> None:
        self._store = store
        self._is_trusted = is_trusted
        self._complain = complain
        self._folders: list[str] = []
        self._asked: dict[str, Settings] = {}
        self._scoped: dict[str, object] = {}
        self._stamps: dict[str, object] = {}
        self._merged: dict[str, Settings] = {}
        self.change_folders(folders, ())

    @property
    def folders(self) -> tuple[str, ...]:
        """The workspace folders, innermost first."""
        return tuple(self._folders)

    def __call__(self, uri: str = "") -> Settings:
        """For a document; without one, or in no folder, what the client says for everywhere."""
        folder = next((folder for folder in self._folders if is_inside(uri, folder)), None)
        return self._store.current if folder is None else self._merged[folder]

    def change_folders(self, added: Iterable[str], removed: Iterable[str]) -> None:
        """Folders have been opened and closed."""
        gone = {place_of(uri) for uri in removed}
        kept = [uri for uri in self._folders if place_of(uri) not in gone]
        by_place = {place_of(uri): uri for uri in (*kept, *added)}
        self._folders = sorted(by_place.values(), key=lambda uri: len(place_of(uri)[1]), reverse=True)
        self._scoped = {uri: raw for uri, raw in self._scoped.items() if uri in self._folders}
        self.read_files()

    def read_files(self) -> bool:
        """Read each midfill.toml that may have changed; whether the settings are now others."""
        stamps = self.stamps()
        for uri in self._folders:
            if uri not in self._stamps or stamps.get(uri) != self._stamps[uri]:
                self._asked[uri] = self._file(uri)
        self._stamps = stamps
        return self.refresh()

    def stamps(self) -> dict[str, object]:
        """Something else whenever a midfill.toml may have changed; touches the disk."""
        paths = {uri: local_path(uri) if self._is_trusted else None for uri in self._folders}
        return {uri: repository_file.stamp(path) if path else None for uri, path in paths.items()}

    def is_stale(self, stamps: Mapping[str, object]) -> bool:
        """Whether something has changed since the files were read."""
        return stamps != self._stamps

    def scope(self, answers: Mapping[str, object]) -> bool:
        """The client's configuration as it is for each folder, in place of what was said before; as `refresh`."""
        self._scoped = {uri: raw for uri, raw in answers.items() if uri in self._folders and section_of(raw)}
        return self.refresh()

    def refresh(self) -> bool:
        """Work out the settings of each folder; whether any are now others."""
        before = self._merged
        self._merged = {uri: self._merge(uri) for uri in self._folders}
        return before != self._merged

    def _file(self, uri: str) -> Settings:
        path = local_path(uri) if self._is_trusted else None
        return parse(repository_file.read(path, self._complain), Settings(), self._complain) if path else Settings()

    def _merge(self, uri: str) -> Settings:
        asked = self._asked[uri]
        configured = section_of(self._scoped.get(uri)) or self._store.configured
        mine = parse(configured, parse(self._store.said, asked, _known), _known)
        return replace(
            mine,
            languages_off=_both(asked.languages_off, mine.languages_off),
            exclude_globs=_both(asked.exclude_globs, mine.exclude_globs),
        )


def _known(_complaint: str) -> None:
    """Complaints about what the client says have been made by who keeps it."""


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))
