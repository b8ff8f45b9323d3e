"""What git ignores and .midfillignore names; git itself is the oracle."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from midfill_server.documents import Document
from midfill_server.ignored import GIT, OURS, PAUSE_S, UNREADABLE, Ignored

PATHS = [
    "a.py", "b.log", "keep.log", "build/a.py", "src/build/x.c", "src/a.gen.py", "src/deep/b.log", "src/deep/keep.log",
    "src/deep/only.txt", "only.txt", "out/keep/me.py", "notes/private.md", "name with space.py", "src/#odd.py",
]  # fmt: skip
RULES = {
    ".gitignore": "# no rule\n*.log\n!keep.log\nbuild/\n/out/*\n!/out/keep\nname\\ with\\ space.py\n\\#odd.py\n\n",
    "src/.gitignore": "*.gen.py\n!/deep/b.log\n",
    "src/deep/.gitignore": "only.txt\nkeep.log\n",
    ".git/info/exclude": "notes/\n",
}


def made(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def why(path: Path) -> str:
    return Ignored().why(path.as_uri())


def test_as_git_says(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    made(tmp_path, dict.fromkeys(PATHS, "") | RULES)
    command = ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "-z", "--stdin"]
    run = subprocess.run(command, input="\0".join(PATHS) + "\0", capture_output=True, text=True, check=False)
    expected = set(filter(None, run.stdout.split("\0")))
    assert expected
    assert {path for path in PATHS if why(tmp_path / path) == GIT} == expected


def test_midfillignore_counts_without_a_repository_and_in_any_folder(tmp_path: Path) -> None:
    made(tmp_path, {".midfillignore": "private/\n", "sub/.midfillignore": "*.sql\n", ".gitignore": "*.py\n"})
    assert why(tmp_path / "private/a.py") == OURS
    assert why(tmp_path / "sub/deep/q.sql") == OURS
    assert why(tmp_path / "q.sql") == ""
    assert why(tmp_path / "a.py") == "", "no repository, no git"


def test_a_repository_is_the_outermost_folder_that_counts(tmp_path: Path) -> None:
    made(tmp_path, {".midfillignore": "*.py\n", "inner/.git/HEAD": "", "inner/a.py": ""})
    assert why(tmp_path / "inner/a.py") == ""


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "file://", "file:///", "vscode-remote://box/a.py", "x", ""])
def test_what_is_on_no_disk_is_not_kept_out(uri: str) -> None:
    assert Ignored().why(uri) == ""


async def test_rules_that_change_are_seen_in_the_background_and_not_too_often(tmp_path: Path) -> None:
    time = 0.0
    ignored = Ignored(now=lambda: time)
    document = Document((tmp_path / "a.py").as_uri(), "python", 1, "")
    ignored.look(document)
    assert document.kept_out == ""
    made(tmp_path, {".midfillignore": "*.py\n"})
    ignored.look_later(document)
    assert not ignored._tasks, "looked at just now"
    time = PAUSE_S
    ignored.look_later(document)
    (task,) = ignored._tasks
    await task
    assert document.kept_out == OURS


@pytest.mark.parametrize("line", ["!", "\\", "[z-a]", "a["])
def test_a_line_that_is_no_rule_is_passed_over_and_the_others_count(tmp_path: Path, line: str) -> None:
    """One such line made all rules of a repository void."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    made(tmp_path, {".gitignore": f"*.log\n{line}\nsecret.py\n", "secret.py": "", "a.py": "", "b.log": ""})
    assert [why(tmp_path / name) for name in ("secret.py", "b.log", "a.py")] == [GIT, GIT, ""]


@pytest.mark.parametrize("name", [".gitignore", ".midfillignore", ".git/info/exclude"])
def test_rules_that_cannot_be_read_keep_everything_out(tmp_path: Path, name: str) -> None:
    """What somebody wanted kept out went to the model."""
    made(tmp_path, {".git/HEAD": "", "a.py": ""})
    (tmp_path / name).mkdir(parents=True)  # nobody can read a folder as a file, not even root
    assert why(tmp_path / "a.py") == UNREADABLE.format(Path(name).name)
