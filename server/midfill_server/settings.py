"""The user's settings: typed, checked at the edge, never changed.

A bad value is named, its default kept and everything else taken. Keys are camelCase on the wire and snake_case here;
the converter between the two is in this file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

from midfill_engine.api import EngineOptions, Mode, RemoteKind
from midfill_server.pace import AUTO_BOUND_S
from midfill_server.setting_rules import AUTO, RULES, Fallback, LogLevel, Prose

SECTION = "midfill"
Complain = Callable[[str], None]


class SettingsFor(Protocol):
    """The settings in force for a document; without a uri, for everywhere."""

    def __call__(self, uri: str = "") -> Settings: ...


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a user can set; `setting_rules` says what each means and what it may be."""

    enabled: bool = True
    preset: str = "pocket"
    device: str = "auto"
    remote_url: str = ""
    remote_kind: RemoteKind = RemoteKind.LLAMA_CPP
    remote_model: str = ""
    mode: Mode = Mode.AUTO
    max_tokens: int = 128
    num_candidates: int = 3
    min_confidence: float = 0.05
    deadline_ms: int = 2000
    debounce_ms: int | str = AUTO
    comments: Prose = Prose.SINGLE_LINE
    strings: Prose = Prose.SINGLE_LINE
    blank_lines: bool = True
    languages_off: tuple[str, ...] = ()
    exclude_globs: tuple[str, ...] = ()
    max_file_size: int = 10_000_000
    completion_fallback: Fallback = Fallback.AUTO
    statistics: bool = True
    log_level: LogLevel = LogLevel.WARNING
    log_file: str = ""

    @property
    def engine_options(self) -> EngineOptions:
        """The engine that these settings want."""
        return EngineOptions(
            preset=self.preset,
            device=self.device,
            remote_url=self.remote_url,
            remote_kind=self.remote_kind,
            remote_model=self.remote_model,
        )

    @property
    def debounce_s(self) -> float:
        """The longest wait for the next key."""
        return AUTO_BOUND_S if isinstance(self.debounce_ms, str) else self.debounce_ms / 1000


def wire_name(name: str) -> str:
    """snake_case to camelCase."""
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


NAMES: Mapping[str, str] = {wire_name(item.name): item.name for item in fields(Settings)}
"""Our names by those on the wire."""

CLIENT_FACTS = frozenset({"isTrusted"})
"""What initialization options may tell of the client besides settings: no complaint is due."""


def parse(raw: Mapping[str, object], base: Settings, complain: Complain) -> Settings:
    """`base` with what `raw` says. None as a value means: not set."""
    changes: dict[str, Any] = {}
    for key, value in raw.items():
        if key not in NAMES:
            complain(f"setting {SECTION}.{key} is unknown")
            continue
        name = NAMES[key]
        if value is None:
            continue
        try:
            changes[name] = RULES[name].check(value)
        except ValueError as error:
            complain(f"setting {SECTION}.{key} {error}, not {value!r}; {getattr(base, name)!r} is kept")
    return replace(base, **changes)


def section_of(raw: object) -> Mapping[str, object] | None:
    """What is meant for us, with or without the section's name around it; None if nothing is."""
    if not isinstance(raw, Mapping):
        return None
    inner = raw.get(SECTION, raw)
    return inner if isinstance(inner, Mapping) and inner else None


class SettingsStore:
    """What a client says for everywhere: defaults, then initialization options, then its configuration.

    `said` and `configured`: the two as they came.
    """

    def __init__(self, initial: object, complain: Complain) -> None:
        self._complain = complain
        said = {key: value for key, value in (section_of(initial) or {}).items() if key not in CLIENT_FACTS}
        self.said: Mapping[str, object] = said
        self.configured: Mapping[str, object] = {}
        self._initial = parse(said, Settings(), complain)
        self.current = self._initial

    def configure(self, raw: object) -> bool:
        """Take the client's whole configuration, pulled or pushed; whether it says anything."""
        section = section_of(raw)
        if section is not None:
            self.configured = section
            self.current = parse(section, self._initial, self._complain)
        return section is not None
