"""The log: lines on stderr, which editors keep, or in a file. What a user has typed appears at level debug only.

Whatever is logged on behalf of a request begins with its name.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from midfill_server.setting_rules import LogLevel

FORMAT = "%(asctime)s %(levelname).1s %(message)s"
LIBRARIES = ("pygls", "asyncio", "cattrs", "httpx2", "httpcore2")
MOST_BYTES = 5 * 2**20
REQUEST: ContextVar[str] = ContextVar("midfill_request", default="")
"""The request that is being worked on; tasks inherit it."""

logger = logging.getLogger(__name__)


def start_logging(level: LogLevel, file: str) -> None:
    """Write from now on."""
    logging.raiseExceptions = False  # a full disk is no reason to say so with every line
    _use(logging.StreamHandler(sys.stderr))
    change_log(level, file)


def change_log(level: LogLevel, file: str) -> None:
    """Libraries log whole messages, texts included, at any level they like: they are heard at debug only."""
    is_debug = level is LogLevel.DEBUG
    logging.getLogger("midfill_server").setLevel(level.upper())
    for name in LIBRARIES:
        logging.getLogger(name).setLevel(logging.DEBUG if is_debug else logging.CRITICAL)
    _write_to(file)


def _write_to(file: str) -> None:
    """To a file, or, where it is empty, to stderr; as before where it cannot be written."""
    try:
        path = Path(file).expanduser() if file else None
        if path != _current_path():
            _use(LogFile(path) if path else logging.StreamHandler(sys.stderr))
    except (OSError, RuntimeError) as error:  # RuntimeError: nobody has that home
        logger.warning("the log cannot be written to %s: %s", file, error)


def _current_path() -> Path | None:
    files = (handler for handler in logging.getLogger().handlers if isinstance(handler, LogFile))
    return next((handler.path for handler in files), None)


def _use(handler: logging.Handler) -> None:
    handler.setFormatter(Lines(FORMAT))
    root = logging.getLogger()
    for old in [old for old in root.handlers if type(old) in (logging.StreamHandler, LogFile)]:
        root.removeHandler(old)
        if isinstance(old, LogFile):
            old.close()
    root.addHandler(handler)


class Lines(logging.Formatter):
    """Each with the request that it is of."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging calls it so
        request = REQUEST.get()
        if request and not record.message.startswith(f"{request}:"):
            record.message = f"{request}: {record.message}"
        return super().formatMessage(record)


class LogFile(logging.StreamHandler[Any]):
    """A file that only its user can read, shared by all windows; a large one begins anew, the old one beside it.

    Raises:
        OSError: it cannot be opened, or is a link or no plain file.
    """

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        self.path = path
        self._most_bytes = most_bytes
        super().__init__(_opened(path))

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, to the file that has the name now: another window may have begun it anew."""
        try:
            self._follow()
        except OSError:
            return
        super().emit(record)

    def close(self) -> None:
        """Nothing more is written."""
        self.stream.close()
        super().close()

    def _follow(self) -> None:
        try:
            named = self.path.stat()
        except FileNotFoundError:
            named = None
        if named is not None and named.st_size > self._most_bytes:
            self.path.replace(f"{self.path}.1")
            named = None
        if named is None or not os.path.samestat(named, os.fstat(self.stream.fileno())):
            old, self.stream = self.stream, _opened(self.path)
            old.close()


def _opened(path: Path) -> Any:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags, 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is no plain file")
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")
