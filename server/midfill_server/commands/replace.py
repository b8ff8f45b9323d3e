"""Writes a filled text back into its file, wholly or not at all.

The new text is put beside the file, on the disk, with the file's owner and mode, and only then takes its place. A file
that is not what was read any more is left alone.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from midfill_server.commands.errors import CommandError, UsageError
from midfill_server.commands.source import Source


def check_writable(source: Source) -> Path:
    """The regular file behind `source` (links followed) if it can be replaced; before any work is put into it."""
    if source.path is None:
        raise UsageError("--apply needs a file: stdin cannot be written back, take --whole instead")
    path = source.path.resolve()
    if not path.is_file():
        raise UsageError(f"{source.name} is no regular file: take --whole and write the output where it belongs")
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        raise CommandError(f"{source.name} or its folder may not be written: check the permissions")
    return path


def replace_source(source: Source, text: str) -> None:
    """Write `text` into the file of `source`, wholly or not at all.

    Raises CommandError if the file is not what was read any more, or if there is no room for the new one.
    """
    path = check_writable(source)
    try:
        _swap(path, source, text)
    except FileNotFoundError:
        raise CommandError(f"{source.name} was removed meanwhile: run the fill again on the file you mean") from None
    except OSError as error:
        raise CommandError(f"{source.name} could not be written ({error.strerror}) and is as it was") from error


def _swap(path: Path, source: Source, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".midfill")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(source.encode(text))
            file.flush()
            os.fsync(file.fileno())
        _copy_owner_and_mode(temporary, path.stat())
        if path.read_bytes() != source.raw:
            raise CommandError(f"{source.name} was changed meanwhile, so it was left alone: run the fill again")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _copy_owner_and_mode(temporary: Path, like: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with suppress(PermissionError):  # another's file in a shared folder: it becomes ours, as with any editor
            os.chown(temporary, like.st_uid, like.st_gid)
    temporary.chmod(stat.S_IMODE(like.st_mode))
