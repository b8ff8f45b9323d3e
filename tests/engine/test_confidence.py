"""What a judged draft's confidence means, and how that is fitted."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path

import pytest

from midfill_engine.confidence import NUM_FACTS, Calibration, Evidence, shares
from midfill_engine.errors import PresetError, RequestError
from midfill_engine.evaluate.fit_confidence import Witness, fit, reliability, store
from midfill_engine.presets import Preset, find_preset

TRUE = Calibration((0.8, 0.5, -0.4, 0.2, 0.6))


def drawn(num: int, seed: int) -> list[Witness]:
    """Drafts that come true as often as `TRUE` says."""
    rng = random.Random(seed)
    found = []
    for _ in range(num):
        evidence = Evidence(
            share=-rng.expovariate(1.0),
            middle=-rng.expovariate(0.4),
            num_tokens=rng.randint(1, 20),
            after=-rng.random(),
        )
        found.append(Witness(evidence, rng.random() < TRUE.probability(evidence)))
    return found


def test_shares_are_a_distribution() -> None:
    logs = shares([-700.0, -701.0, -900.0])
    assert sum(math.exp(log) for log in logs) == pytest.approx(1.0)
    assert logs[0] - logs[1] == pytest.approx(1.0)
    assert shares([]) == []


def test_the_fit_finds_what_the_cases_were_drawn_from() -> None:
    found = fit(drawn(4000, seed=1))
    for witness in drawn(200, seed=2):
        assert found.probability(witness.evidence) == pytest.approx(TRUE.probability(witness.evidence), abs=0.12)


def test_what_is_predicted_comes_true_as_often() -> None:
    """Of drafts that the fit has not seen, in every bin with enough of them to tell."""
    bins = [entry for entry in reliability(drawn(4000, seed=3)) if entry.num >= 200]
    assert len(bins) >= 3
    for entry in bins:
        assert entry.low <= entry.predicted <= entry.high
        assert entry.exact == pytest.approx(entry.predicted, abs=0.08)


@pytest.mark.parametrize("seen", [[], drawn(10, seed=1), [replace(w, is_exact=False) for w in drawn(80, seed=1)]])
def test_too_little_to_fit_on_is_an_error(seen: list[Witness]) -> None:
    with pytest.raises(RequestError, match="too few"):
        fit(seen)


def test_storing_keeps_what_stands_there(tmp_path: Path) -> None:
    (tmp_path / "midfill.json").write_text(json.dumps({"null_token": 3}))
    (tmp_path / "config.json").write_text("{}")
    store(TRUE, tmp_path)
    preset = find_preset(str(tmp_path))
    assert preset.null_token == 3
    assert preset.calibration == TRUE.weights


@pytest.mark.parametrize("wrong", [(1.0,), (math.nan,) * NUM_FACTS, ("1",) * NUM_FACTS])
def test_a_wrong_calibration_is_named(wrong: tuple[float, ...]) -> None:
    with pytest.raises(PresetError, match="calibration must be 5 finite numbers"):
        Preset(name="p", source=Path(), calibration=wrong)
