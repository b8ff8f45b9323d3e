"""A minute of what `bash tests/soak/run` does for half an hour."""

from __future__ import annotations

from pathlib import Path

import pytest

from soak.course import Plan, homes, soak
from soak.report import check


async def test_a_minute_of_typing_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row 5, and what only time shows: texts that drift apart, requests that are never answered, tasks and processes
    that stay, memory that grows."""
    for variable, place in homes(tmp_path).items():
        monkeypatch.setenv(variable, place)
    report = await soak(Plan(minutes=1.0), tmp_path)
    assert not check(report), report.table()
