"""`midfill eval`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NoReturn, cast

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from tokenizers import Tokenizer

from midfill_engine import __version__
from midfill_engine.api import Engine, EngineOptions, Mode, open_local
from midfill_engine.errors import RequestError
from midfill_engine.evaluate.asking import Asking
from midfill_engine.evaluate.cases import Case, read_cases
from midfill_engine.evaluate.grading import Graded, Grader, NoTests
from midfill_engine.evaluate.plot import check_plot, draw
from midfill_engine.evaluate.programs import read_tests
from midfill_engine.evaluate.report import json_line, print_report
from midfill_engine.evaluate.run import answerable, evaluate, warm_up, write_line
from midfill_engine.evaluate.sample import sample
from midfill_engine.evaluate.sandbox import Sandbox
from midfill_engine.evaluate.summary import Summary, summarise
from midfill_engine.evaluate.trials import Trials
from midfill_engine.presets import Preset, find_preset, without

OpenEngine = Callable[[EngineOptions], Engine]


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The cases to ask, and what is said of how they were chosen."""

    cases: list[Case]
    notes: list[str]


def run(argv: Sequence[str], open_engine: OpenEngine | None = None) -> int:
    """Run the evaluation; exit code 0, whatever the figures are. `open_engine` None: as the arguments say."""
    arguments = _parse(argv)
    preset = without(find_preset(arguments.preset), arguments.without)
    if arguments.plot:
        check_plot(arguments.plot)
    chosen = _choose(arguments, preset.can_instruct)
    if arguments.fit_confidence:
        fitting = import_module("midfill_engine.evaluate.confidence_command")  # late: it imports torch
        return int(fitting.run(chosen.cases, arguments))
    grader = Grader(Trials(read_tests(arguments.tests), Sandbox()) if arguments.tests else NoTests())
    engine = (open_engine or _opener(arguments))(
        EngineOptions(preset=arguments.preset, device=arguments.device, num_threads=arguments.threads)
    )
    graded = asyncio.run(_evaluate(engine, chosen.cases, arguments, grader))
    summary = summarise(graded, arguments.seed, token_counter(preset))
    _tell(summary, arguments, [*chosen.notes, *grader.notes])
    return 0


def token_counter(preset: Preset) -> Callable[[str], int] | None:
    """Counts the tokens of a text as the preset's model sees it, if its vocabulary lies with it."""
    path = preset.source / "tokenizer.json"
    if not path.is_file():
        return None
    tokenizer = Tokenizer.from_file(str(path))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _opener(arguments: argparse.Namespace) -> OpenEngine:
    if arguments.without:
        opener = import_module("midfill_engine.evaluate.parts").open_without  # late: it imports torch
        return cast(OpenEngine, partial(opener, arguments.without))
    if not arguments.causal:
        return open_local
    return cast(OpenEngine, import_module("midfill_engine.evaluate.causal").open_causal)  # late: it imports torch


def _tell(summary: Summary, arguments: argparse.Namespace, notes: list[str]) -> None:
    """The picture, the tables, the JSON line: whatever was asked for."""
    title = f"{arguments.cases.name}, {arguments.preset}{', left to right' if arguments.causal else ''}"
    if arguments.plot:
        draw(summary, title, arguments.plot)
    if not arguments.json:
        print_report(summary, title, notes, Console())
    facts: dict[str, object] = {
        "preset": arguments.preset,
        "causal": arguments.causal,
        "without": arguments.without,
        "cases": arguments.cases.name,
        "seed": arguments.seed,
        "mode": arguments.mode,
        "threads": arguments.threads,
        "version": __version__,
        "notes": notes,
    }
    print(json_line(summary, facts))


class _Parser(argparse.ArgumentParser):
    """A wrong command line is an error of one line, like all others."""

    def error(self, message: str) -> NoReturn:
        raise RequestError(f"{message} (see {self.prog} --help)")


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(prog="midfill eval", description="Measure quality on cases whose true middle is known.")
    parser.add_argument("cases", type=Path, metavar="CASES.jsonl[.gz]", help="the cases, one JSON object a line")
    parser.add_argument("--preset", default="pocket", help="a preset's name or a folder")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=_not_negative, default=0, help="threads of the model; 0: its own choice")
    parser.add_argument("--n", type=_not_negative, default=0, help="take so many cases, spread over kinds; 0: all")
    parser.add_argument("--kind", action="append", default=[], help="only cases of this kind (may be repeated)")
    parser.add_argument("--seed", type=_not_negative, default=0, help="of the choice, the fills and the intervals")
    parser.add_argument("--steps", type=_positive, help="the most denoising steps a canvas; else the preset's")
    parser.add_argument(
        "--mode", choices=("kind", *Mode), default="kind", help="how holes are asked; kind: as their kind says"
    )
    parser.add_argument("--causal", action="store_true", help="fill left to right with the same weights, line by line")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="PART",
        help="switch off a part of the preset, such as checks_syntax or has_causal_draft (may be repeated)",
    )
    parser.add_argument(
        "--fit-confidence", action="store_true", help="fit what confidence means, and keep it beside the weights"
    )
    parser.add_argument("--tests", type=Path, metavar="TESTS.jsonl", help="run the cases' tests, for pass@1")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg|png", help="draw accuracy by length and kind")
    parser.add_argument("--out", type=Path, metavar="FILE.jsonl", help="write every fill and what it is worth")
    parser.add_argument("--json", action="store_true", help="print the JSON line only")
    return parser.parse_args(list(argv))


def _not_negative(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be 0 or more, got {number}")
    return number


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, got {number}")
    return number


def _choose(arguments: argparse.Namespace, can_instruct: bool) -> Chosen:
    cases = read_cases(arguments.cases)
    wanted = [case for case in cases if not arguments.kind or case.kind in arguments.kind]
    if not wanted:
        kinds = ", ".join(sorted({case.kind for case in cases}))
        raise RequestError(f"no case is of kind {', '.join(arguments.kind)}; kinds are: {kinds}")
    holes = answerable(wanted, can_instruct)
    if not holes:
        raise RequestError(f"{arguments.cases.name} holds no case that this preset can be asked")
    left_out = len(wanted) - len(holes)
    notes = [f"{left_out} cases left out: next edits, or instructions that this preset cannot follow"] * bool(left_out)
    return Chosen(cases=sample(holes, arguments.n, arguments.seed), notes=notes)


async def _evaluate(engine: Engine, cases: list[Case], arguments: argparse.Namespace, grader: Grader) -> list[Graded]:
    mode = None if arguments.mode == "kind" else Mode(arguments.mode)
    asking = Asking(mode=mode, max_steps=arguments.steps, seed=arguments.seed)
    try:
        with ExitStack() as stack:
            tell = _teller(stack, len(cases), arguments.out)
            await warm_up(engine)
            return await evaluate(engine, cases, asking, grader, tell)
    finally:
        await engine.aclose()


def _teller(stack: ExitStack, num_cases: int, out: Path | None) -> Callable[[Graded], None]:
    """Who is told each graded fill: the progress bar, and the file if there is one."""
    file = stack.enter_context(out.open("w", encoding="utf-8")) if out else None
    progress = stack.enter_context(_progress())
    task = progress.add_task("evaluating", total=num_cases)
    num_exact = 0

    def tell(graded: Graded) -> None:
        nonlocal num_exact
        num_exact += graded.is_exact
        progress.update(task, advance=1, description=f"{num_exact} exact")
        if file is not None:
            write_line(graded, file)

    return tell


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(file=sys.stderr))
