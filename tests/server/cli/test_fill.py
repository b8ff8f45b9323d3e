"""`midfill fill` from its arguments to what comes out, with a scripted engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from midfill_engine.api import EngineOptions, FillRequest, Finish, Limits, Mode
from support.scripted import Answer, ScriptedEngine

from .conftest import Command, opened

BEFORE = "def add(a, b):\n    return "
AFTER = "\n\nprint(add(1, 2))\n"


def test_the_middle_goes_to_stdout_to_the_byte(fill: Command, path: Path) -> None:
    engine = ScriptedEngine([Answer(text="a + b")])
    outcome = fill(path, "--at", "2:12", engine=engine)
    assert (outcome.code, outcome.out, outcome.err) == (0, b"a + b", "")
    assert engine.is_closed


def test_the_request_says_what_the_command_line_says(fill: Command, path: Path) -> None:
    engine = ScriptedEngine()
    fill(path, "--at", "2:12", engine=engine)
    expected = FillRequest(prefix=BEFORE, suffix=AFTER, language="python")
    assert engine.requests == [expected]
    how = ["--mode", "line", "--max-tokens", "7", "--candidates", "3", "--seed", "5", "--temperature", "0.5"]
    fill(path, "--at", "2:5", "--to", "2:11", *how, "--language", "text", engine=engine)
    assert engine.requests[1] == FillRequest(
        prefix="def add(a, b):\n    ",
        selection="return",
        suffix=" " + AFTER,
        language="text",
        mode=Mode.LINE,
        limits=Limits(max_tokens=7),
        num_candidates=3,
        seed=5,
        temperature=0.5,
    )


def test_stdin_is_filled_where_the_marker_stands(fill: Command) -> None:
    engine = ScriptedEngine([Answer(text="2")])
    outcome = fill("--marker", "<?>", "--whole", engine=engine, stdin=b"x = <?>\ny\n")
    assert outcome.out == b"x = 2\ny\n"
    assert engine.requests[0].prefix == "x = "
    assert fill("-", "--at", "1:1", "--whole", engine=ScriptedEngine([Answer(text="a")]), stdin=b"b").out == b"ab"


def test_json_is_one_line(fill: Command, path: Path) -> None:
    engine = ScriptedEngine([Answer(text="é +\n\u2028b", others=("c",), confidence=0.25, num_steps=4)])
    outcome = fill(path, "--at", "2:12", "--candidates", "2", "--json", engine=engine)
    assert len(outcome.out.decode().splitlines()) == 1
    assert json.loads(outcome.out) == {
        "text": "é +\n\u2028b",
        "candidates": [{"text": "é +\n\u2028b", "confidence": 0.25}, {"text": "c", "confidence": 0.25}],
        "finish": "complete",
        "steps": 4,
        "num_tokens": 3,
        "timings_ms": {"load": 0.0, "encode": 0.0, "denoise": 0.0, "total": 0.0},
        "preset": "scripted",
    }


def test_several_candidates_are_told_apart(fill: Command, path: Path) -> None:
    engine = ScriptedEngine([Answer(text="a", others=("b\n",), confidence=0.5)])
    outcome = fill(path, "--at", "2:12", "--candidates", "2", engine=engine)
    assert outcome.out == b"--- 1 of 2, confidence 0.50\na\n--- 2 of 2, confidence 0.50\nb\n"


def test_whole_prints_all_of_the_text(fill: Command, path: Path) -> None:
    outcome = fill(path, "--at", "2:12", "--whole", engine=ScriptedEngine([Answer(text="a + b")]))
    assert outcome.out == (BEFORE + "a + b" + AFTER).encode()
    assert path.read_bytes() == (BEFORE + AFTER).encode()


def test_apply_writes_the_file_and_nothing_else(fill: Command, path: Path) -> None:
    path.chmod(0o751)
    outcome = fill(path, "--at", "2:12", "--apply", engine=ScriptedEngine([Answer(text="a + b")]))
    assert (outcome.code, outcome.out, outcome.err) == (0, b"", "")
    assert path.read_bytes() == (BEFORE + "a + b" + AFTER).encode()
    assert path.stat().st_mode & 0o777 == 0o751
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_apply_writes_through_a_link(fill: Command, path: Path) -> None:
    link = path.with_name("link.py")
    link.symlink_to(path.name)
    fill(link, "--at", "2:12", "--apply", engine=ScriptedEngine([Answer(text="a + b")]))
    assert link.is_symlink()
    assert path.read_bytes() == (BEFORE + "a + b" + AFTER).encode()


def test_apply_with_json_does_both(fill: Command, path: Path) -> None:
    outcome = fill(path, "--at", "2:12", "--apply", "--json", engine=ScriptedEngine([Answer(text="a")]))
    assert json.loads(outcome.out)["text"] == "a"
    assert path.read_bytes() == (BEFORE + "a" + AFTER).encode()


@pytest.mark.parametrize("line_end", ["\r\n", "\r", "\n"])
def test_line_ends_and_byte_order_mark_stay(fill: Command, tmp_path: Path, line_end: str) -> None:
    path = tmp_path / "a.py"
    before = b"\xef\xbb\xbf" + f"é{line_end}b{line_end}".encode()
    path.write_bytes(before)
    engine = ScriptedEngine([Answer(text="1\n2\r\n")] * 3)
    fill(path, "--at", "2:1", "--apply", engine=engine)
    after = b"\xef\xbb\xbf" + f"é{line_end}1{line_end}2{line_end}b{line_end}".encode()
    assert path.read_bytes() == after
    assert engine.requests[0].prefix == f"é{line_end}"
    path.write_bytes(before)
    assert fill(path, "--at", "2:1", "--whole", engine=engine).out == after
    assert fill(path, "--at", "2:1", engine=engine).out == f"1{line_end}2{line_end}".encode()


def test_nothing_to_offer_is_an_answer(fill: Command, path: Path) -> None:
    nothing = Answer(text="", finish=Finish.EMPTY)
    before = path.read_bytes()
    for form in ([], ["--apply"]):
        outcome = fill(path, "--at", "2:5", "--to", "2:11", *form, engine=ScriptedEngine([nothing]))
        assert (outcome.code, outcome.out) == (0, b"")
        assert "nothing worth offering" in outcome.err
    whole = fill(path, "--at", "2:5", "--to", "2:11", "--whole", engine=ScriptedEngine([nothing]))
    assert whole.out == path.read_bytes() == before
    told = json.loads(fill(path, "--at", "2:12", "--json", engine=ScriptedEngine([nothing])).out)
    assert (told["text"], told["candidates"], told["finish"]) == ("", [], "empty")


def test_a_running_engine_is_used(fill: Command, path: Path) -> None:
    at = opened(running=ScriptedEngine([Answer(text="shared")]))
    assert fill(path, "--at", "2:12", at=at).out == b"shared"
    assert at.told == ["connect"]
    assert not at.options[0].start
    assert at.running.is_closed


def test_no_running_engine_means_this_process(fill: Command, path: Path) -> None:
    at = opened(local=ScriptedEngine([Answer(text="here")]))
    assert fill(path, "--at", "2:12", at=at).out == b"here"
    assert at.told == ["connect", "local"]
    assert at.local.is_closed
    assert at.running.is_closed


@pytest.mark.parametrize("options", [["--no-engine"], ["--device", "cpu"], ["--threads", "2"]])
def test_some_options_mean_this_process(fill: Command, path: Path, options: list[str]) -> None:
    at = opened(running=ScriptedEngine())
    fill(path, "--at", "2:12", *options, at=at)
    assert at.told == ["local"]


def test_the_preset_and_where_it_runs_are_handed_on(fill: Command, path: Path) -> None:
    at = opened()
    fill(path, "--at", "2:12", "--preset", "./weights", "--device", "cuda", "--threads", "2", at=at)
    assert at.options == [EngineOptions(preset="./weights", device="cuda", num_threads=2)]
