"""`midfill doctor`: checks that find what is wrong, and what is made of their findings."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from midfill_engine.api import EngineOptions, EngineState, EngineStatus
from midfill_server.commands import doctor
from midfill_server.commands.doctor import editors, engines, file, installation, models, space
from midfill_server.commands.doctor.finding import Case, Finding, Level

FINE = Finding(topic="a", told="fine")
HINT = Finding(topic="b", told="could be better", level=Level.HINT, remedy="do it")
BROKEN = Finding(topic="c", told="gone", level=Level.BROKEN, remedy="get it")


def told_by(*findings: Finding) -> doctor.Check:
    return lambda _case: iter(findings)


@pytest.mark.parametrize(("findings", "code"), [((FINE,), 0), ((FINE, HINT), 0), ((FINE, BROKEN, HINT), 1)])
def test_the_exit_code_says_whether_something_is_broken(
    findings: tuple[Finding, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor.main([], [told_by(*findings)]) == code
    out = capsys.readouterr().out
    assert all(finding.told in out and finding.remedy in out for finding in findings)
    assert doctor.main(["--json"], [told_by(*findings)]) == code
    told = json.loads(capsys.readouterr().out)
    assert (told["isBroken"], len(told["findings"])) == (code == 1, len(findings))


def test_a_check_that_fails_is_a_finding_and_the_others_go_on() -> None:
    def bad(_case: Case) -> Iterator[Finding]:
        yield FINE
        raise OSError("no such thing")

    found = list(doctor.examine(Case(options=EngineOptions()), [bad, told_by(HINT)]))
    assert [finding.level for finding in found] == [Level.OK, Level.BROKEN, Level.HINT]
    assert "no such thing" in found[1].told


def test_every_problem_comes_with_something_to_do() -> None:
    broken = [
        *models.check(Case(options=EngineOptions(preset="no such model"))),
        engines._judged(EngineStatus(state=EngineState.FAILED, preset="pocket", message="out of memory")),
        engines._judged(EngineStatus(state=EngineState.READY, preset="pocket", version="0.0.0")),
        editors._neovim("NVIM v0.9.5"),
        installation._library("no-such-library"),
        space._judged("disk", "full", False, "make room"),
        *file.check(Case(options=EngineOptions(), file=Path("no/such/file.py"))),
    ]
    wrong = [finding for finding in broken if finding.level is not Level.OK]
    assert len(wrong) == 7
    assert all(finding.remedy for finding in wrong)


@pytest.mark.parametrize(
    ("said", "level", "word"),
    [
        ("NVIM v0.12.0-dev", Level.OK, "built in"),
        ("NVIM v0.11.4", Level.OK, "draws"),
        ("NVIM v0.10.0", Level.HINT, "too old"),
        ("NVIM v1.0.0", Level.OK, "built in"),
        ("", Level.HINT, "too old"),
    ],
)
def test_what_a_neovim_can_do(said: str, level: Level, word: str) -> None:
    """Row 29 (vscode-languageserver-node#1396): nothing happened, and nobody said what the editor lacks."""
    finding = editors._neovim(said)
    assert finding.level is level
    assert word in finding.told


@pytest.mark.parametrize(
    ("name", "text", "level", "word"),
    [
        ("a.py", "x = 1\n", Level.OK, "nothing keeps"),
        (".env", "A=1\n", Level.HINT, "secrets"),
        ("a.py", 'key = "AKIAIOSFODNN7EXAMPLQ"\n', Level.HINT, "secret"),
    ],
)
def test_why_nothing_is_suggested_in_a_file(tmp_path: Path, name: str, text: str, level: Level, word: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    (finding,) = file.check(Case(options=EngineOptions(), file=path))
    assert finding.level is level, finding
    assert word in finding.told


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, which must not load a model library."""
    program = "import sys; from midfill_server.cli import run; code = run(sys.argv[1:]); "
    program += "assert 'torch' not in sys.modules; sys.exit(code)"
    command = [sys.executable, "-c", program, "doctor", *arguments]
    places = dict.fromkeys(("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CACHE_HOME", "HOME"), str(home))
    env = places | {"PATH": str(home), "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=180, check=False)


def test_the_whole_of_it_on_this_machine(tmp_path: Path) -> None:
    """With a fill by the shipped model in an engine process, which is gone afterwards."""
    tmp_path.chmod(0o700)
    done = run(tmp_path, "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["isBroken"]) == (0, False), told
    found = {finding["topic"]: finding["told"] for finding in told["findings"]}
    assert "a line in" in found["trial"]
    assert str(tmp_path) in found["runtime"]
    assert "none is running" in found["engines"]
    again = json.loads(run(tmp_path, "--quick", "--json").stdout)["findings"]
    assert [finding["told"] for finding in again if finding["topic"] == "engines"] == [found["engines"]]


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    done = run(tmp_path, "--quick", "--preset", "nope")
    assert done.returncode == 1
    assert "BROKEN  models" in done.stdout
    assert "set midfill.preset to one of pocket" in done.stdout
