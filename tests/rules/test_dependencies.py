"""The dependency rules of pyproject.toml hold, and each of them would be noticed if it did not.

A rule that cannot fail is no rule: for every contract the packages are copied, one forbidden import is added, and the
checker must name that contract.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("server/midfill_server", "engine/midfill_engine")
ONLY_SOURCES = shutil.ignore_patterns("__pycache__", "*.safetensors", "tokenizer.json")

BREACHES = {
    "the engine knows nothing of the server or of the protocol": ("engine/midfill_engine/core.py", "import pygls"),
    "the server sees the engine only through its api, and the syntax": (
        "server/midfill_server/commands/fill.py",
        "import midfill_engine.errors",
    ),
    "neither the server nor api nor syntax imports torch or transformers": (
        "engine/midfill_engine/syntax/grammars.py",
        "import torch",
    ),
    "denoising is mathematics on tensors: no transformers": (
        "engine/midfill_engine/denoise/noise.py",
        "import transformers",
    ),
}


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    """Check the packages of a copy of the project, or of the project itself."""
    path = os.pathsep.join(str(root / package.partition("/")[0]) for package in PACKAGES)
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-P", "-c", code, "--no-cache", "--config", str(root / "pyproject.toml")],
        cwd=root,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200", "NO_COLOR": "1"},
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ONLY_SOURCES)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def kept_and_broken(told: str) -> dict[str, bool]:
    """Contract to whether it was kept, from lines like `NAME KEPT (3 ignored imports)` and `NAME BROKEN`."""
    verdicts = re.findall(r"^(.+) (KEPT|BROKEN)(?: \(.*\))?$", told, flags=re.M)
    return {name.strip(): verdict == "KEPT" for name, verdict in verdicts}


def test_the_rules_hold() -> None:
    checked = lint_imports(ROOT)
    assert kept_and_broken(checked.stdout) == dict.fromkeys(BREACHES, True), checked.stdout + checked.stderr
    assert checked.returncode == 0


@pytest.mark.parametrize("contract", list(BREACHES))
def test_a_breach_is_noticed(copy: Path, contract: str) -> None:
    file, breach = BREACHES[contract]
    path = copy / file
    path.write_text(path.read_text("utf-8") + f"\n{breach}\n", "utf-8")
    checked = lint_imports(copy)
    assert checked.returncode != 0
    assert kept_and_broken(checked.stdout)[contract] is False


def test_starting_imports_no_model_library() -> None:
    """What is imported at run time, also by strings: nothing heavy before a model is really needed."""
    code = (
        "import sys, midfill_engine.api, midfill_server.cli, midfill_server.app;"
        "print(*sorted({'torch', 'transformers', 'accelerate', 'numpy'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == []
