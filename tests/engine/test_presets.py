"""Which model a name stands for, and settings that are refused with one line that helps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from midfill_engine.errors import EngineError, PresetError, WeightsError
from midfill_engine.presets import Preset, find_preset, shipped_names, without


def folder_with(tmp_path: Path, settings: object | None = None, raw: bytes | None = None) -> Path:
    (tmp_path / "config.json").write_text("{}")
    if settings is not None:
        (tmp_path / "midfill.json").write_text(json.dumps(settings))
    if raw is not None:
        (tmp_path / "midfill.json").write_bytes(raw)
    return tmp_path


def refused(name: str, kind: type[EngineError]) -> str:
    """The message, which must be one line for a user."""
    with pytest.raises(EngineError) as caught:
        find_preset(name)
    assert type(caught.value) is kind
    message = str(caught.value)
    assert message
    assert "\n" not in message
    return message


def test_every_shipped_preset_is_found() -> None:
    for name in shipped_names():
        assert find_preset(name).name == name
        assert (find_preset(name).source / "config.json").is_file()


def test_every_field_has_a_default(tmp_path: Path) -> None:
    assert find_preset(str(folder_with(tmp_path))) == Preset(name=tmp_path.name, source=tmp_path)


def test_a_folder_says_what_differs(tmp_path: Path) -> None:
    preset = find_preset(str(folder_with(tmp_path, {"null_token": 7, "t_min": 0, "heals": False, "head": 0})))
    assert (preset.null_token, preset.t_min, preset.heals, preset.head) == (7, 0, False, 0)


@pytest.mark.parametrize("name", ["", "nothing-like-it", "~nobody-by-this-name/x", "a\0b", "pocket ", "Pocket"])
def test_an_unknown_name_is_told_the_known_ones(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`""` was the current folder, and `~nobody` a RuntimeError of pathlib."""
    monkeypatch.chdir(tmp_path)
    message = refused(name, PresetError)
    assert "pocket" in message


def test_a_file_is_no_preset(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"")
    refused(str(path), PresetError)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    message = refused(str(tmp_path), WeightsError)
    assert "config.json" in message
    assert "another preset" in message


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ([], "object"),
        ("text", "object"),
        ({"tempo": 3}, "tempo"),
        ({"name": "x"}, "name"),
        ({"source": "/"}, "source"),
        ({"head": "8"}, "head"),
        ({"head": 8.0}, "head"),
        ({"head": True}, "head"),
        ({"head": None}, "head"),
        ({"null_token": False}, "null_token"),
        ({"null_token": -1}, "null_token"),
        ({"heals": 1}, "heals"),
        ({"t_min": True}, "t_min"),
        ({"t_min": 0.9}, "t_min"),
        ({"t_min": -0.1}, "t_min"),
        ({"t_max": float("inf")}, "t_max"),
        ({"t_min": float("nan")}, "t_min"),
        ({"entropy_bound": 0}, "entropy_bound"),
        ({"entropy_bound": float("nan")}, "entropy_bound"),
        ({"confidence": 0.0}, "confidence"),
        ({"stability": -1}, "stability"),
        ({"family": "mask"}, "family"),
        ({"first_signal": "none"}, "first_signal"),
        ({"line_slots": 0}, "line_slots"),
        ({"max_steps": 0}, "max_steps"),
        ({"context": 10, "tail": 8}, "context"),
        ({"description": ["a"]}, "description"),
    ],
)
def test_a_wrong_setting_is_named(settings: object, said: str, tmp_path: Path) -> None:
    """Some of these were only found by the first fill, as a ValueError from the depths."""
    assert said in refused(str(folder_with(tmp_path, settings)), PresetError)


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"{'a': 1}", b"\xff\xfe", b'{"head": }', b"[" * 100_000, b'{"head": 1} trailing']
)
def test_a_broken_settings_file_is_named(raw: bytes, tmp_path: Path) -> None:
    assert "midfill.json" in refused(str(folder_with(tmp_path, raw=raw)), PresetError)


def test_a_part_can_be_left_out_and_a_wrong_one_is_told_the_right_ones() -> None:
    preset = find_preset("pocket")
    assert preset.checks_syntax
    assert not without(preset, ["checks_syntax"]).checks_syntax
    assert without(preset, []) == preset
    with pytest.raises(PresetError, match=r"no part 'name'; parts are: .*checks_syntax"):
        without(preset, ["name"])
