"""The log: lines on stderr, which editors keep. What a user has typed appears at level debug only."""

from __future__ import annotations

import logging
import sys

from midfill_server.setting_rules import LogLevel

FORMAT = "%(asctime)s %(levelname).1s %(message)s"
LIBRARIES = ("pygls", "asyncio", "cattrs", "httpx2", "httpcore2")


def start_logging(level: LogLevel) -> None:
    """Write to stderr from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter(FORMAT))
    logging.getLogger().addHandler(handler)
    set_level(level)


def set_level(level: LogLevel) -> None:
    """Libraries log whole messages, texts included, at any level they like: they are heard at debug only."""
    is_debug = level is LogLevel.DEBUG
    logging.getLogger("midfill_server").setLevel(level.upper())
    for name in LIBRARIES:
        logging.getLogger(name).setLevel(logging.DEBUG if is_debug else logging.CRITICAL)
