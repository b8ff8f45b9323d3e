"""The log's file: private, bounded, shared by windows; and whose request a line is of."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from midfill_server.logs import REQUEST, Lines, LogFile


def record(text: str) -> logging.LogRecord:
    return logging.LogRecord("midfill_server", logging.INFO, "", 0, text, None, None)


def test_a_large_file_begins_anew_and_two_windows_write_to_the_same(tmp_path: Path) -> None:
    path = tmp_path / "log"
    one, other = LogFile(path, most_bytes=20), LogFile(path, most_bytes=20)
    one.emit(record("a" * 30))
    other.emit(record("b"))
    one.emit(record("c"))
    one.close()
    other.close()
    assert (path.read_text(), (tmp_path / "log.1").read_text()) == ("b\nc\n", "a" * 30 + "\n")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_all_could_read_is_private_from_now_on(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("")
    path.chmod(0o644)
    LogFile(path).close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_neither_links_nor_pipes_are_written_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "other")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(OSError, match=r".*"):
            LogFile(tmp_path / name)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(("text", "expected"), [("failed", "inline 7: failed"), ("inline 7: done", "inline 7: done")])
def test_a_line_of_a_request_has_its_name_once(text: str, expected: str) -> None:
    token = REQUEST.set("inline 7")
    try:
        assert Lines("%(message)s").format(record(text)) == expected
    finally:
        REQUEST.reset(token)
    assert Lines("%(message)s").format(record(text)) == text
