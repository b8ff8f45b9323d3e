"""A run's folder: its full state, its log, its exported weights. Every file appears complete or not at all.

state.pt        weights, optimisers, average, counters: a run resumes from it to the step
log.jsonl       one line of figures every few steps, one of held-out figures at every save
weights/        the averaged weights as a folder `from_pretrained` loads
"""

from __future__ import annotations

import copy
import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from midfill_engine.train.optimise import Optimiser, OptimiserSettings

if TYPE_CHECKING:
    from transformers import DiffusionGemmaForBlockDiffusion


@dataclass(kw_only=True)
class Progress:
    """How far a run has come. `phase_*` count from the start of the present phase (causal, joint)."""

    step: int = 0
    tokens: int = 0  # encoder and canvas positions, each counted once a batch
    seconds: float = 0.0
    phase: str = ""
    phase_step: int = 0
    phase_seconds: float = 0.0

    def enter(self, phase: str) -> None:
        """Start a phase, or go on with it."""
        if phase != self.phase:
            self.phase, self.phase_step, self.phase_seconds = phase, 0, 0.0


def save_state(folder: Path, model: torch.nn.Module, optimiser: Optimiser, progress: Progress) -> None:
    """Write state.pt."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / "state.pt.part"
    state = {"model": model.state_dict(), "optimiser": optimiser.state_dict(), "progress": asdict(progress)}
    torch.save(state, part)
    part.replace(folder / "state.pt")


def load_state(folder: Path, model: torch.nn.Module, optimiser: Optimiser) -> Progress | None:
    """Take up state.pt where there is one."""
    path = folder / "state.pt"
    if not path.exists():
        return None
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    return Progress(**state["progress"])


def read_progress(folder: Path) -> Progress | None:
    """How far the run in a folder has come, None where there is none."""
    path = folder / "state.pt"
    if not path.exists():
        return None
    return Progress(**torch.load(path, map_location="cpu", weights_only=True, mmap=True)["progress"])


def log(folder: Path, figures: dict[str, Any]) -> None:
    """Append a line to log.jsonl and print it."""
    line = json.dumps(figures)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    print(line, flush=True)


def export(model: DiffusionGemmaForBlockDiffusion, tokenizer_folder: Path, target: Path) -> None:
    """Write the present weights in bf16 with the tokenizer, as a folder `from_pretrained` loads without our code."""
    part = target.with_name(target.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    copy.deepcopy(model).to(torch.bfloat16).save_pretrained(part)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        if (tokenizer_folder / name).exists():
            shutil.copyfile(tokenizer_folder / name, part / name)
    old = target.with_name(target.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.replace(old)
    part.replace(target)
    shutil.rmtree(old, ignore_errors=True)


def export_run(folder: Path, start: Path, target: Path, is_averaged: bool = True) -> Progress:
    """Write a run's weights, by default their running average, as a model folder. `start`: what the run began with."""
    from midfill_engine.train import weights

    model = weights.load(start)
    optimiser = Optimiser(model, OptimiserSettings(), torch.float32)
    progress = load_state(folder, model, optimiser)
    if progress is None:
        raise FileNotFoundError(f"{folder} holds no state.pt: `train run` writes it every few minutes")
    if is_averaged:
        optimiser.swap_average()
    export(model, start, target)
    return progress
