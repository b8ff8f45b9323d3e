"""What the engine's own parts cost, each beside what it is compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

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
        cold, warm, theirs = (
            Series("fill, cold, 1k context"),
            Series("fill, one key later"),
            Series("generate with pins"),
        )
        filler, right, their_right = self._fillers[1024], 0, 0
        for hole in [None, *line_holes(num_rounds, _SEED)]:  # the first is a warm-up
            used = hole or line_holes(1, _SEED + 1)[0]
            plan = filler.plan(_request(used))
            series = (cold, warm, theirs) if hole else (Series(""), Series(""), Series(""))
            self._loaded.model.forget()
            series[0].measure(lambda used=used: self._fill(filler, used))
            self._fill(filler, replace(used, prefix=used.prefix[:-1]))
            results: list[FillResult] = []
            series[1].measure(lambda used=used: results.append(self._fill(filler, used)))
            tokens: list[int] = []
            series[2].measure(lambda plan=plan: tokens.extend(self._generate.fill(plan.prompt, plan.num_slots, _SEED)))
            if hole:
                right += results[0].text == hole.middle
                their_right += filler.read(cut_at_null(tokens, self._preset.null_token), plan) == hole.middle
        figures.series += [cold, warm, theirs]
        figures.ratios["fill_vs_generate"] = ratio(theirs, warm)
        figures.ratios["fill_vs_generate_cold"] = ratio(theirs, cold)
        figures.ratios["warm_vs_cold"] = ratio(cold, warm)
        figures.exact = {"ours": right / num_rounds, "generate": their_right / num_rounds}

    def against_left_to_right(self, figures: ModelFigures, num_rounds: int) -> None:
        """Blocks of three lines and 24 tokens or more: tokens a second of both, the prompt encoded beforehand."""
        filler = self._fillers[1024]
        ours, theirs, rates = Series("block of three lines"), Series("the same, left to right"), []
        holes = [h for h in line_holes(4 * num_rounds, _SEED + 2, num_lines=3) if filler.num_tokens(h.middle) >= 24]
        for hole in holes[:num_rounds]:
            num_true = filler.num_tokens(hole.middle)
            request = replace(_request(hole), mode=Mode.BLOCK, limits=Limits(max_tokens=max(24, num_true)))
            plan = filler.plan(request)
            filler.fill(request, Control())  # the prompt is encoded now
            results: list[FillResult] = []
            spent = ours.measure(lambda request=request: results.append(filler.fill(request, Control())))
            self._left_to_right.fill(plan.prompt, 1)
            their_spent = theirs.measure(lambda plan=plan, n=num_true: self._left_to_right.fill(plan.prompt, n))
            rates.append((max(1, results[0].num_tokens) / spent) / (num_true / their_spent))
        figures.series += [ours, theirs]
        figures.ratios["diffusion_vs_ar"] = sorted(rates)[len(rates) // 2]

    def keystrokes_by_context(self, figures: ModelFigures, num_rounds: int) -> None:
        """A fill one keystroke after another, in a context of 128 tokens and in one of 2k."""
        by_context = {n: Series(f"one key later, {n} context") for n in (128, 2048)}
        for hole in line_holes(num_rounds, _SEED + 3, min_prefix=12000):
            for num_context, series in by_context.items():
                filler = self._fillers[num_context]
                for key in range(3, 0, -1):
                    self._fill(filler, replace(hole, prefix=hole.prefix[:-key]))
                series.measure(lambda filler=filler, hole=hole: self._fill(filler, hole))
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
