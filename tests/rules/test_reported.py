"""The table of reported faults is whole and names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| (\d+) \|.*\|$", re.MULTILINE)
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
NUM_ROWS = 30


def rows() -> dict[int, list[tuple[str, str]]]:
    """The tests that each row names."""
    table = (ROOT / "tests/reported.md").read_text(encoding="utf-8")
    return {int(found[1]): NAMED.findall(found[0]) for found in ROW.finditer(table)}


def test_every_row_names_a_test() -> None:
    assert sorted(rows()) == list(range(1, NUM_ROWS + 1))
    assert [number for number, tests in rows().items() if not tests] == []


def test_every_test_that_is_named_exists() -> None:
    named = {test for tests in rows().values() for test in tests}
    missing = [test for test in named if not _is_there(*test)]
    assert missing == []


def _is_there(path: str, name: str) -> bool:
    file = ROOT / path
    return file.is_file() and re.search(rf"^(async )?def {name}\(", file.read_text(encoding="utf-8"), re.M) is not None
