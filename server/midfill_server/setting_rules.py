"""What each setting means and what it may be.

The texts are what docs/PROTOCOL.md tells; a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from midfill_engine.api import Mode, RemoteKind

Check = Callable[[object], Any]
AUTO = "auto"


class Fallback(StrEnum):
    """Whether ordinary completion items are given: `auto` to clients that have no inline completion."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class Prose(StrEnum):
    """What is suggested inside of comments or strings unasked: nothing, the rest of the line, or whatever fits."""

    OFF = "off"
    SINGLE_LINE = "single-line"
    ON = "on"


class LogLevel(StrEnum):
    """The least important kind of message that is written to stderr."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    DEBUG = "debug"


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be a text")
    return value


def _any_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text, which may be empty")
    return value


def _file(value: object) -> str:
    if not isinstance(value, str) or "\0" in value or not (value == "" or value[0] == "~" or Path(value).is_absolute()):
        raise ValueError("must be a whole path, or empty")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("must be a list of texts")
    return tuple(value)


def _number(least: int, most: int) -> Check:
    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return value

    return check


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return float(value)


def _number_or_auto(least: int, most: int) -> Check:
    number = _number(least, most)

    def check(value: object) -> int | str:
        try:
            return AUTO if value == AUTO else int(number(value))
        except ValueError as error:
            raise ValueError(f"{error}, or {AUTO}") from None

    return check


def _one_of(choices: type[StrEnum]) -> Check:
    def check(value: object) -> StrEnum:
        try:
            return choices(str(value))
        except ValueError:
            raise ValueError(f"must be one of {', '.join(choices)}") from None

    return check


@dataclass(frozen=True)
class Rule:
    """`check` gives the value to keep or raises a ValueError that says what it must be."""

    check: Check
    about: str


USER_ONLY = frozenset({"remote_url", "remote_kind", "remote_model"})
"""What a workspace or a repository may never set: it would decide where the user's text and key go."""


RULES: Mapping[str, Rule] = {
    "enabled": Rule(_flag, "Whether anything is suggested at all."),
    "preset": Rule(_text, "The model: a preset's name or a folder with a checkpoint."),
    "device": Rule(_text, "Where the model runs: `auto`, `cpu`, `cuda`, `mps`, `xpu`."),
    "remote_url": Rule(
        _any_text,
        "For the preset `remote`: the server's address, such as `http://127.0.0.1:8012`. Your text goes there; its key "
        "comes from `MIDFILL_REMOTE_KEY` or the keyring.",
    ),
    "remote_kind": Rule(
        _one_of(RemoteKind), "What that server speaks: `llama.cpp` (`/infill`), `completions` (with a suffix), `chat`."
    ),
    "remote_model": Rule(_any_text, "Which of that server's models is asked; empty: whatever it has."),
    "mode": Rule(_one_of(Mode), "How far a suggestion may reach: `auto`, `line` or `block`."),
    "max_tokens": Rule(_number(1, 4096), "The most tokens of a suggestion."),
    "num_candidates": Rule(_number(1, 16), "How many suggestions an explicit request gets."),
    "min_confidence": Rule(
        _share,
        "How sure of being exactly right the model must be, from 0 to 1, for something to be suggested unasked. An "
        "explicit request gets what there is; so does who types what a less sure suggestion begins with.",
    ),
    "deadline_ms": Rule(
        _number(50, 600_000), "After this time the best draft so far is shown; an explicit request waits thrice."
    ),
    "debounce_ms": Rule(
        _number_or_auto(0, 5000),
        "The longest wait for the next key before the model is asked: a number, or `auto` for the server's choice. How "
        "long it is in fact depends on your typing and the engine's speed; an explicit request never waits.",
    ),
    "comments": Rule(
        _one_of(Prose), "In comments: `off` (nothing unless asked for), `single-line` (no further than the line), `on`."
    ),
    "strings": Rule(_one_of(Prose), "The same in strings."),
    "blank_lines": Rule(_flag, "Whether anything is suggested on a blank line unasked."),
    "languages_off": Rule(_texts, "Language ids in which nothing is suggested."),
    "exclude_globs": Rule(_texts, "Paths in which nothing is suggested, such as `generated/*.py`."),
    "max_file_size": Rule(
        _number(1, 2**31), "Files of more characters than that have nothing suggested in them and are no context."
    ),
    "completion_fallback": Rule(
        _one_of(Fallback),
        "Ordinary completion items: `auto` gives them to clients without inline completion. "
        "`on` takes effect from initializationOptions only.",
    ),
    "statistics": Rule(
        _flag, "Whether it is counted what is suggested and accepted, on this machine only: see `midfill stats`."
    ),
    "log_level": Rule(_one_of(LogLevel), "What is logged: `error`, `warning`, `info`, `debug` (shows your text)."),
    "log_file": Rule(
        _file, "Where it is logged: a whole path, or one that begins with `~`; empty: stderr, which editors keep."
    ),
}
