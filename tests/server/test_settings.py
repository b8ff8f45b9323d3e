"""Settings at the edge: bad ones are named and their defaults kept."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from midfill_engine.api import EngineOptions, Mode, RemoteKind
from midfill_server import repository_file
from midfill_server.setting_rules import RULES, USER_ONLY, Fallback, LogLevel
from midfill_server.settings import Settings, SettingsStore, parse, wire_name

EVERYTHING = {
    "enabled": False,
    "preset": "some-preset",
    "device": "cpu",
    "mode": "line",
    "maxTokens": 64,
    "remoteUrl": "http://127.0.0.1:8012",
    "remoteKind": "chat",
    "remoteModel": "some-model",
    "numCandidates": 2,
    "minConfidence": 0.5,
    "deadlineMs": 500,
    "debounceMs": 0,
    "comments": "off",
    "strings": "on",
    "blankLines": False,
    "languagesOff": ["markdown"],
    "excludeGlobs": ["generated/*"],
    "maxFileSize": 1000,
    "completionFallback": "off",
    "statistics": False,
    "logLevel": "debug",
    "logFile": "~/midfill.log",
}


def read(raw: dict[str, object]) -> tuple[Settings, list[str]]:
    complaints: list[str] = []
    return parse(raw, Settings(), complaints.append), complaints


def test_every_default_passes_its_own_rule() -> None:
    assert set(RULES) == {item.name for item in fields(Settings)}
    for item in fields(Settings):
        value: Any = getattr(Settings(), item.name)
        assert RULES[item.name].check(list(value) if isinstance(value, tuple) else value) == value


def test_everything_can_be_set() -> None:
    settings, complaints = read(EVERYTHING)
    assert complaints == []
    assert set(EVERYTHING) == {wire_name(item.name) for item in fields(Settings)}
    assert all(getattr(settings, item.name) != getattr(Settings(), item.name) for item in fields(Settings))
    assert (settings.mode, settings.completion_fallback, settings.log_level) == (
        Mode.LINE,
        Fallback.OFF,
        LogLevel.DEBUG,
    )
    assert settings.engine_options == EngineOptions(
        preset="some-preset",
        device="cpu",
        remote_url="http://127.0.0.1:8012",
        remote_kind=RemoteKind.CHAT,
        remote_model="some-model",
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("enabled", "yes"),
        ("enabled", 1),
        ("preset", ""),
        ("preset", 5),
        ("mode", "everything"),
        ("mode", 5),
        ("maxTokens", 0),
        ("maxTokens", True),
        ("maxTokens", "12"),
        ("deadlineMs", 1),
        ("languagesOff", "python"),
        ("languagesOff", [1]),
        ("excludeGlobs", {}),
        ("maxFileSize", 0),
        ("completionFallback", True),
        ("logLevel", ["debug"]),
    ],
)
def test_a_bad_value_is_named_and_its_default_kept(key: str, value: object) -> None:
    settings, complaints = read({key: value, "debounceMs": 7})
    assert settings == Settings(debounce_ms=7)
    assert len(complaints) == 1
    assert f"midfill.{key} must be" in complaints[0]


def test_an_unknown_key_is_named_and_null_means_not_set() -> None:
    settings, complaints = read({"colour": 1, "preset": None})
    assert settings == Settings()
    assert complaints == ["setting midfill.colour is unknown"]


def test_configuration_goes_over_initialization_options_and_replaces_earlier_configuration() -> None:
    """Row 26 (taplo#282): changed settings were ignored until a restart."""
    store = SettingsStore({"midfill": {"maxTokens": 5, "mode": "line"}}, pytest.fail)
    assert (store.current.max_tokens, store.current.mode) == (5, Mode.LINE)
    assert store.configure({"midfill": {"maxTokens": 6}})
    assert (store.current.max_tokens, store.current.mode) == (6, Mode.LINE)
    assert store.configure({"mode": "block"})
    assert (store.current.max_tokens, store.current.mode) == (5, Mode.BLOCK)


@pytest.mark.parametrize("raw", [None, {}, [], "x", {"midfill": {}}, {"midfill": None}])
def test_nothing_said_leaves_things_as_they_are(raw: object) -> None:
    """Emacs answers {} for sections that it does not know, VS Code pushes null."""
    store = SettingsStore({"maxTokens": 5}, pytest.fail)
    store.configure({"maxTokens": 6})
    assert not store.configure(raw)
    assert store.current.max_tokens == 6


def test_the_settings_of_others_are_not_ours() -> None:
    """Helix passes everything that is configured for a server; a section of ours must be told by its name."""
    store = SettingsStore(None, pytest.fail)
    assert store.configure({"pylsp": {"plugins": {}}, "midfill": {"maxTokens": 3}})
    assert store.current.max_tokens == 3


@pytest.mark.parametrize(("value", "is_taken"), [("auto", True), (0, True), (5001, False), ("automatic", False)])
def test_the_debounce_is_a_number_or_auto(value: object, is_taken: bool) -> None:
    settings, complaints = read({"debounceMs": value})
    assert (settings.debounce_ms == value) is is_taken
    assert (complaints == []) is is_taken


def test_where_the_text_goes_is_no_repositorys_to_say() -> None:
    assert {"remote_url", "remote_kind", "remote_model"} == USER_ONLY
    assert not USER_ONLY & repository_file.ALLOWED
