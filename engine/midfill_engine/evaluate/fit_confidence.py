"""Fits what a judged draft's confidence means on cases whose true middle is known, see `confidence`.

Logistic regression with a little shrinkage; the table that is printed compares what was predicted with what came true
on cases the fit has not seen (ten folds).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import torch
from torch.nn import functional as F  # noqa: N812

from midfill_engine.confidence import NUM_FACTS, Calibration, Evidence
from midfill_engine.core import Control
from midfill_engine.errors import RequestError
from midfill_engine.evaluate.asking import Asking, as_middle, cut
from midfill_engine.evaluate.cases import Case
from midfill_engine.filler import Filler

SHRINKAGE = 0.003
NUM_FOLDS = 10
FEWEST = 50
EDGES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)


@dataclass(frozen=True)
class Witness:
    """What was known of a leading draft, and whether it was exactly right."""

    evidence: Evidence
    is_exact: bool


@dataclass(frozen=True)
class Bin:
    """Drafts whose predicted probability lies between two edges: how many, predicted and true on average."""

    low: float
    high: float
    num: int
    predicted: float
    exact: float


def witnesses(filler: Filler, cases: Iterable[Case], asking: Asking) -> list[Witness]:
    """The leading draft of every case for which one was judged."""
    found = []
    for case in cases:
        judged = filler.judge(asking.request(case), Control())
        if judged is not None:
            text, evidence = judged
            found.append(Witness(evidence, as_middle(case, cut(case, text)).rstrip() == case.middle.rstrip()))
    return found


def fit(seen: Sequence[Witness]) -> Calibration:
    """The weights under which what came true was likeliest.

    Raises:
        RequestError: too few cases to fit anything on, or all of one outcome.
    """
    num_exact = sum(witness.is_exact for witness in seen)
    if len(seen) < FEWEST or num_exact in (0, len(seen)):
        raise RequestError(f"{len(seen)} judged drafts, {num_exact} of them exact, are too few to fit confidence on")
    facts = torch.tensor([witness.evidence.features for witness in seen], dtype=torch.float64)
    truth = torch.tensor([float(witness.is_exact) for witness in seen], dtype=torch.float64)
    weights = torch.zeros(NUM_FACTS, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        value = F.binary_cross_entropy_with_logits(facts @ weights, truth) + SHRINKAGE * weights.square().sum()
        value.backward()
        return value

    optimiser.step(loss)
    return Calibration(tuple(round(weight, 4) for weight in weights.detach().tolist()))


def reliability(seen: Sequence[Witness], num_folds: int = NUM_FOLDS) -> list[Bin]:
    """Predicted against true, each draft by a fit that has not seen it."""
    pairs: list[tuple[float, bool]] = []
    for fold in range(num_folds):
        rest = [witness for i, witness in enumerate(seen) if i % num_folds != fold]
        calibration = fit(rest)
        pairs += [(calibration.probability(w.evidence), w.is_exact) for w in seen[fold::num_folds]]
    bins = []
    for low, high in pairwise(EDGES):
        inside = [(p, exact) for p, exact in pairs if low <= p < high or p == high == 1.0]
        if inside:
            predicted, exact = (sum(column) / len(inside) for column in zip(*inside, strict=True))
            bins.append(Bin(low, high, len(inside), predicted, exact))
    return bins


def store(calibration: Calibration, folder: Path) -> None:
    """Write the weights into the `midfill.json` of a checkpoint's folder, beside what it says already."""
    path = folder / "midfill.json"
    settings = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    settings["calibration"] = list(calibration.weights)
    path.write_text(json.dumps(settings, indent=2) + "\n", "utf-8")
