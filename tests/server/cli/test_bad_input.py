"""What cannot work is one line that says what to do, and the file stays as it is."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from midfill_engine.api import EngineUnavailable, PresetError, ResourceError, WeightsError
from midfill_server.commands import source as source_module
from midfill_server.commands.boundary import exit_code_of, message_of
from midfill_server.commands.errors import CommandError
from midfill_server.commands.replace import replace_source
from midfill_server.commands.source import read_source
from support.scripted import Answer, ScriptedEngine

from .conftest import Command


def test_what_is_no_text(fill: Command, tmp_path: Path) -> None:
    fill(tmp_path / "gone.py", "--at", "1:1").check_one_line(2, "gone.py", "no such file")
    fill(tmp_path / "x" / "gone.py", "--at", "1:1").check_one_line(2, "no such file")
    fill(tmp_path, "--at", "1:1").check_one_line(2, "is a directory")
    binary = tmp_path / "a.bin"
    binary.write_bytes(b"\x7fELF\0\0")
    fill(binary, "--at", "1:1").check_one_line(2, "a.bin", "binary")
    latin = tmp_path / "latin.py"
    latin.write_bytes(b"a = 1\nb = '\xe9'\n")
    fill(latin, "--at", "1:1").check_one_line(2, "not UTF-8", "line 2", "convert")
    fill("-", "--at", "1:1", stdin=b"\xff").check_one_line(2, "stdin", "not UTF-8")
    fill("a\0b", "--at", "1:1").check_one_line(2, "no file name")
    below = tmp_path / "latin.py" / "below"
    fill(below, "--at", "1:1").check_one_line(1, "Not a directory")


def test_an_endless_file_is_not_read_to_its_end(fill: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "MAX_BYTES", 2**20)
    big = tmp_path / "big.py"
    big.write_bytes(b"x" * (2**20 + 1))
    fill(big, "--at", "1:1").check_one_line(2, "larger than 1 MiB")


def test_where_the_hole_cannot_be(fill: Command, path: Path) -> None:
    fill(path).check_one_line(2, "--at LINE:COL", "--marker")
    fill(path, "--at", "2").check_one_line(2, "LINE:COL")
    fill(path, "--at", "99:1").check_one_line(2, "99:1", "lines 1 to 5")
    fill(path, "--at", "1:99").check_one_line(2, "1:99", "columns 1 to 15")
    fill(path, "--at", "2:1", "--to", "1:1").check_one_line(2, "--to 1:1", "swap")
    fill(path, "--marker", "gone").check_one_line(2, "'gone'", "not in the text")
    fill(path, "--marker", "add").check_one_line(2, "2 times")
    fill(path, "--marker", "\udcff").check_one_line(2, "not in the text")
    fill(path, "--marker", "a", "--to", "1:1").check_one_line(2, "--to goes with --at")
    fill(path, "--at", "1:1", "--marker", "a").check_one_line(2, "not allowed")


def test_options_out_of_bounds(fill: Command, path: Path) -> None:
    fill(path, "--at", "1:1", "--max-tokens", "0").check_one_line(2, "max_tokens", "0")
    fill(path, "--at", "1:1", "--candidates", "99").check_one_line(2, "num_candidates", "99")
    fill(path, "--at", "1:1", "--seed", "-1").check_one_line(2, "seed", "-1")
    fill(path, "--at", "1:1", "--temperature", "nan").check_one_line(2, "temperature", "nan")
    fill(path, "--at", "1:1", "--threads", "-1").check_one_line(2, "num_threads", "-1")
    fill(path, "--at", "1:1", "--seed", "x").check_one_line(2, "--seed")
    fill(path, "--at", "1:1", "--json", "--whole").check_one_line(2, "not allowed")


def test_apply_needs_a_file_it_can_replace(fill: Command) -> None:
    fill("-", "--at", "1:1", "--apply", stdin=b"x").check_one_line(2, "--apply needs a file", "--whole")
    fill("/dev/null", "--at", "1:1", "--apply").check_one_line(2, "no regular file")


@pytest.mark.parametrize(
    ("error", "code", "word"),
    [
        (PresetError("no preset 'x': take pocket"), 2, "no preset"),
        (WeightsError("model.safetensors is broken:\nfetch it again"), 1, "fetch it again"),
        (ResourceError("not enough memory"), 1, "not enough memory"),
        (EngineUnavailable("the engine ended"), 1, "the engine ended"),
        (MemoryError(), 1, "not enough memory"),
        (OSError(errno.ENOSPC, "No space left on device", "cache"), 1, "cache: No space left"),
        (ZeroDivisionError("by\nzero"), 1, "internal error (ZeroDivisionError: by zero)"),
    ],
)
def test_what_the_engine_fails_with(fill: Command, path: Path, error: Exception, code: int, word: str) -> None:
    before = path.read_bytes()
    engine = ScriptedEngine([Answer(error=error)])
    fill(path, "--at", "2:12", "--apply", engine=engine).check_one_line(code, word)
    assert path.read_bytes() == before
    assert engine.is_closed


def test_a_traceback_is_there_for_who_asks(fill: Command, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDFILL_TRACEBACK", "1")
    outcome = fill(path, "--at", "2:12", engine=ScriptedEngine([Answer(error=ZeroDivisionError())]))
    assert "Traceback" in outcome.err


class Meddler(ScriptedEngine):
    """Changes the file while it fills it."""

    def __init__(self, path: Path, raw: bytes | None) -> None:
        super().__init__()
        self._path, self._raw = path, raw

    async def aclose(self) -> None:
        if self._raw is None:
            self._path.unlink()
        else:
            self._path.write_bytes(self._raw)


def test_a_file_that_changed_meanwhile_is_left_alone(fill: Command, path: Path) -> None:
    other = path.read_bytes().replace(b"add", b"sub")
    fill(path, "--at", "2:12", "--apply", engine=Meddler(path, other)).check_one_line(1, "changed meanwhile")
    assert path.read_bytes() == other
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_file_that_is_gone_meanwhile_stays_gone(fill: Command, path: Path) -> None:
    outcome = fill(path, "--at", "2:12", "--apply", engine=Meddler(path, None))
    outcome.check_one_line(2, "no regular file")
    assert list(path.parent.iterdir()) == []


def test_no_room_for_the_new_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full when the new text is handed to it: the old file stays, the new one goes."""

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    source = read_source(str(path))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CommandError, match="No space left"):
        replace_source(source, "new")
    assert path.read_bytes() == source.raw
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_exit_codes() -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    assert exit_code_of(lambda: 0) == 0
    assert exit_code_of(interrupted) == 130
    assert "nobody reads" in message_of(BrokenPipeError())
