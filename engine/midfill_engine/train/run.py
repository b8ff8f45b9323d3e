"""A training run: batches in, weights, state and log out; stopped at any moment, resumed to the step.

    shards ──BatchSampler──> batch ──Objective──> gradients ──Optimiser──> weights ──every save──> state, weights/, log

Every source of chance is a function of (seed, step, micro-batch), so a resumed run repeats what an unbroken one does.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion

from midfill_engine.train import weights
from midfill_engine.train.canvases import BatchSampler, CanvasSettings
from midfill_engine.train.device import Machine, probe
from midfill_engine.train.feed import Feed, Inline, WorkersAhead
from midfill_engine.train.loss import chunk_gradient
from midfill_engine.train.network import Network, cast_weights, layer_forward
from midfill_engine.train.objective import Figures, Losses, Objective, ObjectiveSettings
from midfill_engine.train.optimise import Optimiser, OptimiserSettings, learning_rate_scale
from midfill_engine.train.shards import Shard, load_shard
from midfill_engine.train.state import Progress, export, load_state, log, save_state

LOG_EVERY = 20  # steps
PHASES = ("causal", "joint")
DEV_SEED = 10**6


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """One phase of a run. `steps` or `seconds` bound the phase; with both 0 it ends only when it is stopped."""

    folder: Path  # the run's state, log and weights
    shards: Path
    start: Path  # a model folder: its configuration, its tokenizer and, at the first step, its weights
    is_fresh: bool = False  # new weights instead of those of `start`
    phase: str = "joint"
    windows: int = 16  # in one optimiser step
    micro: int = 8  # in one forward and backward pass
    steps: int = 0
    seconds: float = 0.0
    warmup_steps: int = 50
    decay: float = 0.3  # share of the phase over which the learning rate falls
    save_s: float = 300.0
    held_out_batches: int = 6
    device: str = "cpu"
    threads: int = 2
    num_workers: int = 0  # processes that draw batches ahead; a GPU wants most of the cores
    is_compiled: bool = True
    seed: int = 0
    optimiser: OptimiserSettings = field(default_factory=OptimiserSettings)
    canvases: CanvasSettings = field(default_factory=CanvasSettings)
    objective: ObjectiveSettings = field(default_factory=ObjectiveSettings)

    def __post_init__(self) -> None:
        if self.phase not in PHASES:
            raise ValueError(f"phase must be one of {', '.join(PHASES)}, not {self.phase!r}")
        if self.micro < 1 or self.windows % self.micro:
            raise ValueError(f"windows ({self.windows}) must be a multiple of micro ({self.micro})")


class Run:
    """The parts of a run, built once."""

    def __init__(self, settings: RunSettings) -> None:
        torch.set_num_threads(settings.threads)
        self.settings = settings
        self.machine = probe(settings.device)
        self.model = first_weights(settings).to(self.machine.device)
        tokenizer = Tokenizer.from_file(str(settings.start / "tokenizer.json"))
        self.optimiser = Optimiser(self.model, settings.optimiser, self.machine.dtype)
        self.objective = build_objective(self.model, settings, self.machine)
        self.progress = load_state(settings.folder, self.model, self.optimiser) or Progress()
        self.progress.enter(settings.phase)
        self.train = self._train_feed(self._inline(load_shard(settings.shards, "train"), tokenizer, settings.seed))
        self.dev = self._inline(load_shard(settings.shards, "dev"), tokenizer, DEV_SEED)

    def _inline(self, shard: Shard, tokenizer: Tokenizer, seed: int) -> Inline:
        sampler = BatchSampler(shard, tokenizer, self.settings.canvases, seed)
        return Inline(sampler, self.settings.micro, with_canvases=self.settings.phase == "joint")

    def _train_feed(self, inline: Inline) -> Feed:
        settings = self.settings
        if not settings.num_workers:
            return inline
        return WorkersAhead(inline, settings.num_workers, self.progress.step, settings.windows // settings.micro)

    def losses(self, feed: Feed, seed: int, step: int, number: int) -> Losses:
        """The losses of one micro-batch; chance depends on the seed, the step and the number only."""
        batch = feed.draw(step, number).to(self.machine.device)
        cast = cast_weights(self.model, self.machine.dtype)
        if self.settings.phase == "causal":
            return self.objective.causal(cast, batch)
        generator = torch.Generator(self.machine.device).manual_seed(hash((seed, step, number)) % 2**63)
        return self.objective.joint(cast, batch, generator)

    def step(self) -> tuple[Figures, float]:
        """One optimiser step. Returns the figures of its micro-batches and the gradient norm."""
        settings, progress = self.settings, self.progress
        number = settings.windows // settings.micro
        figures: Figures = {}
        for micro in range(number):
            losses = self.losses(self.train, settings.seed, progress.step, micro)
            (losses.total / number).backward()
            add_figures(figures, losses.figures)
        norm = self.optimiser.step(self._scale(), progress.step)
        progress.step += 1
        progress.phase_step += 1
        canvas = settings.canvases.positions if settings.phase == "joint" else 0
        progress.tokens += settings.windows * (settings.canvases.window + canvas)
        return figures, norm

    def _scale(self) -> float:
        warmup = min(1.0, (self.progress.phase_step + 1) / max(self.settings.warmup_steps, 1))
        return warmup * learning_rate_scale(self.fraction(), self.settings.decay)

    def fraction(self) -> float:
        """How much of the phase is done, 0 where it is unbounded."""
        settings, progress = self.settings, self.progress
        by_steps = progress.phase_step / settings.steps if settings.steps else 0.0
        by_seconds = progress.phase_seconds / settings.seconds if settings.seconds else 0.0
        return max(by_steps, by_seconds)

    @torch.no_grad()
    def held_out(self) -> dict[str, float]:
        """Held-out figures of the averaged weights, always over the same batches."""
        figures: Figures = {}
        self.optimiser.swap_average()
        for number in range(self.settings.held_out_batches):
            add_figures(figures, self.losses(self.dev, DEV_SEED, 0, number).figures)
        self.optimiser.swap_average()
        return means(figures)

    def save(self) -> None:
        """State, averaged weights and held-out figures to disk."""
        save_state(self.settings.folder, self.model, self.optimiser, self.progress)
        self.optimiser.swap_average()
        export(self.model, self.settings.start, self.settings.folder / "weights")
        self.optimiser.swap_average()
        log(self.settings.folder, {"step": self.progress.step, "tokens": self.progress.tokens, "dev": self.held_out()})


def first_weights(settings: RunSettings) -> DiffusionGemmaForBlockDiffusion:
    """The model a run begins with."""
    if settings.is_fresh:
        return weights.fresh(DiffusionGemmaConfig.from_pretrained(settings.start), settings.seed)
    return weights.load(settings.start)


def build_objective(model: DiffusionGemmaForBlockDiffusion, settings: RunSettings, machine: Machine) -> Objective:
    """The objective, compiled where the machine can and the settings want it."""
    if not (settings.is_compiled and machine.can_compile):
        return Objective(network=Network(model), settings=settings.objective)
    layer = torch.compile(layer_forward, dynamic=False)
    inner = torch.compile(chunk_gradient, dynamic=False)
    return Objective(network=Network(model, layer), settings=settings.objective, inner=inner)


def run(settings: RunSettings) -> Progress:
    """Train until the phase's budget is spent or the folder holds a file named STOP; leaves everything on disk."""
    work = Run(settings)
    progress = work.progress
    log(settings.folder, {"start": progress.step, "phase": settings.phase, "gflops": round(work.machine.gflops)})
    clock = saved = time.monotonic()
    sums: Figures = {}
    since = progress.tokens
    while work.fraction() < 1 and not (settings.folder / "STOP").exists():
        began = time.monotonic()
        figures, norm = work.step()
        spent = time.monotonic() - began
        progress.seconds += spent
        progress.phase_seconds += spent
        add_figures(sums, figures)
        if progress.step % LOG_EVERY == 0:
            now = time.monotonic()
            rate = (progress.tokens - since) / (now - clock)
            log(settings.folder, _line(progress, sums, norm, rate))
            sums, clock, since = {}, now, progress.tokens
        if time.monotonic() - saved > settings.save_s:
            work.save()
            saved = clock = time.monotonic()
            since = progress.tokens
    work.save()
    work.train.close()
    return progress


def _line(progress: Progress, sums: Figures, norm: float, rate: float) -> dict[str, float | str]:
    head: dict[str, float | str] = {"step": progress.step, "phase": progress.phase, "tokens": progress.tokens}
    head |= {"minutes": round(progress.seconds / 60, 1), "tokens_s": round(rate), "norm": round(norm, 3)}
    return head | means(sums)


def add_figures(into: Figures, figures: Figures) -> None:
    """Add (sum, weight) pairs by name."""
    for name, (total, weight) in figures.items():
        before = into.get(name, (0.0, 0.0))
        into[name] = (before[0] + total, before[1] + weight)


def means(figures: Figures) -> dict[str, float]:
    """Each figure's mean."""
    return {name: round(total / max(weight, 1e-9), 4) for name, (total, weight) in figures.items()}
