"""The process that users get, `python -m midfill_engine.service`, as far as it goes without loading a model."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from midfill_engine import api, wire
from midfill_engine.api import EngineOptions, EngineState, FillRequest, PresetError, WeightsError
from support.scripted import PATIENCE_S


@pytest.mark.parametrize(("preset", "cls"), [("no-such-preset", PresetError), ("{tmp}/empty", WeightsError)])
async def test_a_preset_that_cannot_be_loaded_is_told(
    options: EngineOptions, tmp_path: Path, preset: str, cls: type
) -> None:
    (tmp_path / "empty").mkdir()
    wrong = replace(options, preset=preset.format(tmp=tmp_path))
    engine = api.connect(wrong)
    try:
        with pytest.raises(cls, match=r"no preset|no model"):
            await engine.fill(FillRequest(prefix=""))
        with pytest.raises(cls):
            await api.start_engine(wrong)
        assert [status.state for status in await api.engine_statuses(options)] == [EngineState.FAILED]
        assert await api.stop_engine(wrong) == 1
    finally:
        await engine.aclose()


def test_what_is_imported_before_the_process_answers() -> None:
    """The model's library takes seconds; the socket must be there before."""
    code = (
        "import midfill_engine.service.__main__, sys;"
        "print([name for name in sys.modules if name in {'torch', 'transformers', 'httpx2'}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert done.stdout == "[]\n"


def test_what_a_client_imports_before_its_first_request() -> None:
    code = (
        "from midfill_engine import api; import sys; api.connect();"
        "print([name for name in sys.modules if name in {'torch', 'httpx2', 'uvicorn', 'starlette'}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert done.stdout == "[]\n"


def test_options_that_make_no_sense_end_it_with_a_line() -> None:
    command = [sys.executable, "-m", "midfill_engine.service", '{"preset": 3}']
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 1
    assert wire.load_json(done.stdout)["error"] == {"kind": "request", "message": "expected text @ $.preset"}
