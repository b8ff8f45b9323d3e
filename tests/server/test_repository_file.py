"""What a repository may ask for: little, and whatever its file holds, nothing fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from midfill_server.folder_settings import FolderSettings
from midfill_server.repository_file import ALLOWED, MOST_BYTES, read
from midfill_server.settings import NAMES, Settings, SettingsStore


def test_both_ways_to_write_a_name() -> None:
    assert {"preset", "device", "statistics", "log_level", "completion_fallback"}.isdisjoint(ALLOWED)
    assert set(NAMES.values()) >= ALLOWED


def test_what_is_not_a_repositorys_to_set_is_named_and_left(tmp_path: Path) -> None:
    (tmp_path / "midfill.toml").write_text("preset = '/evil'\nremoteUrl = 'http://x'\ncolour = 1\nmax_tokens = 9\n")
    complaints: list[str] = []
    assert read(tmp_path, complaints.append) == {"maxTokens": 9}
    assert [complaint.split(": ", 1)[1].split(" is ")[0] for complaint in complaints] == [
        "preset",
        "remoteUrl",
        "'colour'",
    ]


@pytest.mark.parametrize("content", [b"=", b"\xff\xfe", b"a = " + b"[" * 5000, b"#" * (MOST_BYTES + 1)])
def test_what_makes_no_sense_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "midfill.toml").write_bytes(content)
    complaints: list[str] = []
    assert read(tmp_path, complaints.append) == {}
    assert len(complaints) == 1


def test_neither_links_nor_pipes_are_read(tmp_path: Path) -> None:
    """A link could have somebody else's file read; a pipe would have the server wait for ever."""
    (tmp_path / "other").write_text("maxTokens = 9")
    (tmp_path / "midfill.toml").symlink_to(tmp_path / "other")
    complaints: list[str] = []
    assert read(tmp_path, complaints.append) == {}
    (tmp_path / "midfill.toml").unlink()
    os.mkfifo(tmp_path / "midfill.toml")
    assert read(tmp_path, complaints.append) == {}
    assert len(complaints) == 2


def test_no_file_is_no_complaint(tmp_path: Path) -> None:
    assert read(tmp_path, pytest.fail) == {}


def test_a_bad_value_is_named_and_defaulted(tmp_path: Path) -> None:
    (tmp_path / "midfill.toml").write_text("maxTokens = 'many'\nmode = 'line'\n")
    complaints: list[str] = []
    store = SettingsStore(None, pytest.fail)
    settings_for = FolderSettings(store, [tmp_path.as_uri()], is_trusted=True, complain=complaints.append)
    found = settings_for((tmp_path / "a.py").as_uri())
    assert (found.max_tokens, str(found.mode)) == (128, "line")
    assert len(complaints) == 1
    assert settings_for() == Settings()
