"""What a repository keeps out: files that git ignores, and those that `.midfillignore` names, written in the same way.

    root (with .git): .git/info/exclude, .gitignore, .midfillignore · each folder on the way down: the latter two

Rules of a folder go over those of the folders above. The disk is looked at when a document is opened, and again in a
thread, seldom, while it is in use: never when a key is pressed. Without a repository only `.midfillignore` counts.
Rules that are there but cannot be read keep out all that is under them; a line that is no rule is passed over.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from midfill_server.documents import Document
from midfill_server.uris import local_path

logger = logging.getLogger(__name__)

GIT = "ignored by git"
OURS = "excluded by .midfillignore"
UNREADABLE = "off where {} cannot be read"
PAUSE_S = 2.0
MOST_FOLDERS = 64
LONGEST_FILE = 1_000_000
"""Characters of a file with rules that are read."""

Stamp = tuple[int, int] | None


class _RulesError(Exception):
    """There are rules, and nobody knows which. Its text is the file's name."""


@dataclass
class _Kept:
    stamp: Stamp
    spec: GitIgnoreSpec


@dataclass(kw_only=True)
class Ignored:
    """Tells documents that they are kept out. Files with rules are read once, and again when they have changed."""

    now: Callable[[], float] = time.monotonic
    _kept: dict[Path, _Kept] = field(default_factory=dict)
    _looked_at: dict[str, float] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def look(self, document: Document) -> None:
        """Look now."""
        self._looked_at[document.uri] = self.now()
        document.kept_out = self.why(document.uri)

    def look_later(self, document: Document) -> None:
        """Look in the background, if that has not been done just now."""
        if self.now() - self._looked_at.get(document.uri, float("-inf")) < PAUSE_S:
            return
        self._looked_at[document.uri] = self.now()
        task = asyncio.ensure_future(self._look_in_thread(document))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look_in_thread(self, document: Document) -> None:
        document.kept_out = await asyncio.to_thread(self.why, document.uri)

    def forget(self, uri: str) -> None:
        """A document was closed."""
        self._looked_at.pop(uri, None)

    def why(self, uri: str) -> str:
        """Why a file is kept out, or nothing; reads from the disk."""
        path = local_path(uri)
        if path is None:
            return ""
        try:
            return self._why(path)
        except _RulesError as error:
            return UNREADABLE.format(error)
        except (OSError, ValueError) as error:  # a folder that nobody may look into has no rules for us
            logger.info("rules of what is ignored cannot be read: %s", error)
            return ""

    def _why(self, path: Path) -> str:
        folders = list(path.parents)[:MOST_FOLDERS]
        if not folders:
            return ""
        root = next((folder for folder in folders if (folder / ".git").exists()), None)
        inside = folders if root is None else folders[: folders.index(root) + 1]
        if self._is_named(path, inside, ".midfillignore"):
            return OURS
        if root is not None and self._is_named(path, inside, ".gitignore", root / ".git/info/exclude"):
            return GIT
        return ""

    def _is_named(self, path: Path, folders: list[Path], name: str, weakest: Path | None = None) -> bool:
        """What holds is the last word on the file, or on the outermost folder of it that is left out as a whole: git
        does not look into such a folder, so that nothing in there brings a file back."""
        root = folders[-1]
        rules = [(weakest, root)] if weakest is not None else []
        rules += [(folder / name, folder) for folder in reversed(folders)]
        parts = path.relative_to(root).parts
        for length in range(1, len(parts) + 1):
            is_folder = length < len(parts)
            if self._verdict(root.joinpath(*parts[:length]), is_folder, rules):
                return True
        return False

    def _verdict(self, path: Path, is_folder: bool, rules: list[tuple[Path, Path]]) -> bool:
        found = False
        for file, base in rules:
            if path != base and path.is_relative_to(base) and (spec := self._spec(file)) is not None:
                name = path.relative_to(base).as_posix() + "/" * is_folder
                said = spec.check_file(name).include
                found = found if said is None else said
        return found

    def _spec(self, file: Path) -> GitIgnoreSpec | None:
        stamp = _stamp(file)
        kept = self._kept.get(file)
        if kept is None or kept.stamp != stamp:
            kept = self._kept[file] = _Kept(stamp, _spec_of(_lines(file) if stamp else ()))
        return kept.spec if kept.stamp else None


def _stamp(file: Path) -> Stamp:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _spec_of(lines: Iterable[str]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(filter(_is_rule, lines))


def _is_rule(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _lines(file: Path) -> Iterator[str]:
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            yield from stream.read(LONGEST_FILE).splitlines()
    except OSError as error:
        raise _RulesError(file.name) from error
