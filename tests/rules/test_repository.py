"""What is in the repository: no paths of somebody's machine, nothing large but the weights, documents that are true."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from midfill_server.commands.fill import find_hole
from midfill_server.commands.fill_arguments import parse

ROOT = Path(__file__).parents[2]
LARGE = 2 * 2**20
WEIGHTS = "engine/midfill_engine/pocket/"

# Written so that this file does not match itself.
MACHINE_PATH = re.compile(
    r"/(?:work|farm)/(?:main|in|shared|steering|\.library|\.device)\b|/root/\w|/opt/(?:wheels|pypi)\b|/tmp/[a-z]"
    r"|/(?:home|Users)/(?!me/|you/|user/|x/)[\w.-]+/"
)


def tracked() -> list[Path]:
    told = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [ROOT / name for name in told.split("\0") if name and (ROOT / name).is_file()]


def texts() -> dict[str, str]:
    """Every tracked file that is text, by its name in the repository."""
    found = {}
    for path in tracked():
        raw = path.read_bytes()
        if len(raw) < LARGE and b"\0" not in raw:
            found[path.relative_to(ROOT).as_posix()] = raw.decode("utf-8")
    return found


def test_no_path_of_a_machine() -> None:
    stray = {name: match[0] for name, text in texts().items() if (match := MACHINE_PATH.search(text))}
    assert stray == {}


def test_only_the_weights_are_large() -> None:
    large = [path.relative_to(ROOT).as_posix() for path in tracked() if path.stat().st_size > LARGE]
    assert [name for name in large if not name.startswith(WEIGHTS)] == []


def test_both_packages_are_typed() -> None:
    for package in ("engine/midfill_engine", "server/midfill_server"):
        assert (ROOT / package / "py.typed").is_file()


def test_the_architecture_names_only_tests_that_exist() -> None:
    """`tests/a/test_b.py::test_c` and `tests/a/test_b.py`, wherever they stand in backquotes."""
    named = re.findall(r"`(tests/[\w/.-]+?)(?:::(\w+))?`", (ROOT / "docs/ARCHITECTURE.md").read_text("utf-8"))
    assert named
    for file, test in named:
        assert (ROOT / file).exists(), file
        if test:
            assert f"def {test}(" in (ROOT / file).read_text("utf-8"), f"{file}::{test}"


def test_the_architecture_names_only_files_that_exist() -> None:
    text = (ROOT / "docs/ARCHITECTURE.md").read_text("utf-8")
    named = re.findall(r"`((?:engine|server|tests|docs|editors|bench|requirements|\.ci)/[\w/.-]*)", text)
    assert [name for name in named if not (ROOT / name).exists()] == []


def commands_of_readme() -> list[str]:
    """The single-line commands in the shell blocks of the README."""
    blocks = re.findall(r"```(?:sh|bash|shell)\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), flags=re.S)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def test_the_tests_of_the_readme_are_those_of_ci() -> None:
    """README's second command is what .ci/run calls, less the standard input."""
    second = commands_of_readme()[1]
    last = (ROOT / ".ci/run").read_text("utf-8").rstrip().splitlines()[-1]
    assert shlex.split(last.removesuffix("</dev/null")) == shlex.split(second)


def test_the_first_command_of_the_readme_fills_a_file_of_this_repository() -> None:
    first = commands_of_readme()[0]
    *_, fill = first.split("&&")
    words = shlex.split(fill)
    assert words[0].endswith("/midfill")
    arguments = parse(words[2:])
    hole = find_hole((ROOT / arguments.file).read_text("utf-8"), arguments)
    assert hole.selection.strip()
    assert "\n" not in hole.selection
    assert "-c requirements/tested.txt" in first


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "docs/ARCHITECTURE.md"])
def test_links_lead_somewhere(name: str) -> None:
    path = ROOT / name
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text("utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_changelog_has_what_is_not_released_on_top() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.M)
    assert headings[0] == "Unreleased"
