"""What people are told of models before any is loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from midfill_engine.api import model_cards
from midfill_engine.cards import readable


def test_pocket_is_told_of_and_what_is_no_model_is_not(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    pocket, folder = model_cards(["pocket", "no such model", str(tmp_path)])
    assert (pocket.name, pocket.size, pocket.licence, pocket.can_instruct) == ("pocket", "17 MB", "Apache-2.0", False)
    assert pocket.fit.startswith("fits: 17 MB of weights")
    assert pocket.description
    assert (folder.name, folder.size) == (str(tmp_path), "")


@pytest.mark.parametrize(
    ("num_bytes", "expected"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (16_901_164, "17 MB"), (999_600_000, "1.0 GB"), (52e9, "52 GB")],
)
def test_sizes_for_people(num_bytes: int, expected: str) -> None:
    assert readable(num_bytes) == expected


def test_telling_of_models_loads_none() -> None:
    code = "import sys; from midfill_engine.api import model_cards; model_cards(); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
