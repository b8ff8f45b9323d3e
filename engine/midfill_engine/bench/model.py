"""What the engine's own parts cost, each beside what it is compared with."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from midfill_engine.api import FillRequest, FillResult, Limits, Mode
from midfill_engine.bench.holes import Hole, line_holes
from midfill_engine.bench.rivals import Generate, LeftToRight
from midfill_engine.bench.timing import Series, ratio
from midfill_engine.core import Control
from midfill_engine.filler import Filler
from midfill_engine.models.loading import load
from midfill_engine.presets import Preset

Told = Callable[[str], None]
_SEED = 20261


@dataclass
class ModelFigures:
    """Series by name, and the ratios that the report's JSON line holds."""

    series: list[Series]
    ratios: dict[str, float]
    exact: dict[str, float]


def measure_model(preset: Preset, device: str, num_rounds: int, tell: Told) -> ModelFigures:
    """All measurements of the model, `num_rounds` holes each."""
    tell("loading")
    bench = _Bench(preset, device)
    figures = ModelFigures(series=[], ratios={}, exact={})
    for name, part in (
        ("against generate", bench.against_generate),
        ("against left to right", bench.against_left_to_right),
        ("context length", bench.keystrokes_by_context),
    ):
        tell(name)
        part(figures, num_rounds)
    return figures


class _Bench:
    def __init__(self, preset: Preset, device: str) -> None:
        self._preset = preset
        self._loaded = load(preset, device, lambda *_: None)
        self._fillers = {n: self._filler(n) for n in (128, 1024, 2048)}
        banned = self._fillers[1024].banned
        self._generate = Generate(preset, banned)
        self._left_to_right = LeftToRight(self._loaded.model, banned)

    def against_generate(self, figures: ModelFigures, num_rounds: int) -> None:
        """Fills of a line in a context of 1k tokens: cold, after one keystroke, and by transformers' loop."""
        kept = [Series("fill, cold, 1k context"), Series("fill, one key later"), Series("generate with pins")]
        self._compare(line_holes(1, _SEED + 1)[0], [Series(""), Series(""), Series("")])  # a warm-up
        right = [self._compare(hole, kept) for hole in line_holes(num_rounds, _SEED)]
        cold, warm, theirs = kept
        figures.series += kept
        figures.ratios["fill_vs_generate"] = ratio(theirs, warm)
        figures.ratios["fill_vs_generate_cold"] = ratio(theirs, cold)
        figures.ratios["warm_vs_cold"] = ratio(cold, warm)
        figures.exact = {
            "ours": sum(ours for ours, _ in right) / num_rounds,
            "generate": sum(other for _, other in right) / num_rounds,
        }

    def _compare(self, hole: Hole, series: list[Series]) -> tuple[bool, bool]:
        """One hole filled cold, warm and by generate; whether we and whether they hit what stood there."""
        filler, null = self._fillers[1024], self._preset.null_token
        plan = filler.plan(_request(hole))
        self._loaded.model.forget()
        series[0].measure(lambda: self._fill(filler, hole))
        self._fill(filler, replace(hole, prefix=hole.prefix[:-1]))
        ours = series[1].measure(lambda: self._fill(filler, hole))
        tokens = series[2].measure(lambda: self._generate.fill(plan.prompt, plan.num_slots, _SEED))
        return ours.text == hole.middle, filler.read(cut_at_null(tokens, null), plan) == hole.middle

    def against_left_to_right(self, figures: ModelFigures, num_rounds: int) -> None:
        """Blocks of three lines and 24 tokens or more: tokens a second of both, the prompt encoded beforehand."""
        filler = self._fillers[1024]
        ours, theirs = Series("block of three lines"), Series("the same, left to right")
        holes = [h for h in line_holes(4 * num_rounds, _SEED + 2, num_lines=3) if filler.num_tokens(h.middle) >= 24]
        rates = [self._tokens_a_second(hole, ours, theirs) for hole in holes[:num_rounds]]
        figures.series += [ours, theirs]
        figures.ratios["diffusion_vs_ar"] = statistics.median(rates)

    def _tokens_a_second(self, hole: Hole, ours: Series, theirs: Series) -> float:
        """How many times more tokens a second come out of denoising than left to right."""
        filler = self._fillers[1024]
        num_true = filler.num_tokens(hole.middle)
        request = replace(_request(hole), mode=Mode.BLOCK, limits=Limits(max_tokens=num_true))
        prompt = filler.plan(request).prompt
        filler.fill(request, Control())  # the prompt is encoded now
        result = ours.measure(lambda: filler.fill(request, Control()))
        self._left_to_right.fill(prompt, 1)
        theirs.measure(lambda: self._left_to_right.fill(prompt, num_true))
        return (max(1, result.num_tokens) / ours.values[-1]) / (num_true / theirs.values[-1])

    def keystrokes_by_context(self, figures: ModelFigures, num_rounds: int) -> None:
        """A fill one keystroke after another, in a context of 128 tokens and in one of 2k."""
        by_context = {n: Series(f"one key later, {n} context") for n in (128, 2048)}
        for hole in line_holes(num_rounds, _SEED + 3, min_prefix=12000):
            for num_context, series in by_context.items():
                filler = self._fillers[num_context]
                for key in range(3, 0, -1):
                    self._fill(filler, replace(hole, prefix=hole.prefix[:-key]))
                series.measure(partial(self._fill, filler, hole))
        figures.series += list(by_context.values())
        figures.ratios["keystroke_2k_vs_128"] = ratio(by_context[2048], by_context[128])

    def _filler(self, context: int) -> Filler:
        return Filler(replace(self._preset, context=context), self._loaded)

    def _fill(self, filler: Filler, hole: Hole) -> FillResult:
        return filler.fill(_request(hole), Control())


def cut_at_null(tokens: list[int], null: int | None) -> list[int]:
    """What stands before the first null."""
    return tokens[: tokens.index(null)] if null is not None and null in tokens else tokens


def _request(hole: Hole) -> FillRequest:
    return FillRequest(prefix=hole.prefix, suffix=hole.suffix, mode=Mode.LINE, seed=_SEED)
