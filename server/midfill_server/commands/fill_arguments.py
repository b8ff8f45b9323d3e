"""What `midfill fill` is told on its command line, as plain values."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from midfill_engine.api import EngineOptions, FillRequest, Limits, Mode
from midfill_server.commands.parser import OneLineParser
from midfill_server.commands.source import STDIN

EPILOG = """\
LINE and COL count from 1; a column counts characters. Only UTF-8 is read.
stdout gets the middle alone; --whole, --json and --apply change that.
Exit code: 0 done, 1 failed, 2 wrong usage or input, 130 stopped with Ctrl-C.
"""


@dataclass(frozen=True, kw_only=True)
class FillArguments:
    """`device` and `threads` None: not named, so a running engine may have any."""

    file: str = STDIN
    at: str | None = None
    to: str | None = None
    marker: str | None = None
    language: str = ""
    apply: bool = False
    whole: bool = False
    json: bool = False
    mode: str = Mode.AUTO
    max_tokens: int = Limits.max_tokens
    candidates: int = FillRequest.num_candidates
    seed: int = FillRequest.seed
    temperature: float | None = FillRequest.temperature
    preset: str = EngineOptions.preset
    device: str | None = None
    threads: int | None = None
    no_engine: bool = False
    watch: bool = False


def parse(argv: Sequence[str]) -> FillArguments:
    """Exits with 2 and one line on stderr if the arguments make no sense."""
    return FillArguments(**vars(_parser().parse_args(argv)))


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(
        prog="midfill fill",
        description="Fill a hole in a text; what stands around it is never changed.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", nargs="?", default=STDIN, metavar="FILE", help="the text (- or nothing: stdin)")
    _add_place(parser)
    _add_output(parser)
    _add_fill(parser)
    _add_engine(parser)
    return parser


def _add_place(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where")
    place = group.add_mutually_exclusive_group()
    place.add_argument("--at", metavar="LINE:COL", help="the hole, or where it begins")
    place.add_argument("--marker", metavar="TEXT", help="the hole is where TEXT stands in the text; TEXT goes")
    group.add_argument("--to", metavar="LINE:COL", help="where the hole ends: what stands there now is replaced")
    group.add_argument("--language", default="", metavar="NAME", help="default: from the file's name")


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what comes out")
    form = group.add_mutually_exclusive_group()
    form.add_argument("--whole", action="store_true", help="print the whole text with the hole filled")
    form.add_argument("--json", action="store_true", help="print one line of JSON")
    group.add_argument("--apply", action="store_true", help="write the middle into the file and print nothing else")
    group.add_argument("--watch", action="store_true", help="show on stderr how the block develops")


def _add_fill(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how")
    defaults = FillArguments()
    group.add_argument("--mode", choices=[mode.value for mode in Mode], default=Mode.AUTO.value, help="how far it goes")
    group.add_argument(
        "--max-tokens", type=int, default=defaults.max_tokens, metavar="N", help="at most (default: %(default)s)"
    )
    group.add_argument(
        "--candidates", type=int, default=defaults.candidates, metavar="N", help="how many different middles"
    )
    group.add_argument("--seed", type=int, default=defaults.seed, metavar="N", help="same seed, same text")
    group.add_argument(
        "--temperature",
        type=float,
        default=defaults.temperature,
        metavar="T",
        help="0 (greedy) to 2; default: the preset's own",
    )


def _add_engine(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("with what")
    group.add_argument("--preset", default=FillArguments.preset, metavar="NAME|FOLDER", help="default: %(default)s")
    group.add_argument("--device", metavar="NAME", help="cpu, cuda, mps ... (implies --no-engine)")
    group.add_argument("--threads", type=int, metavar="N", help="CPU threads (implies --no-engine)")
    group.add_argument("--no-engine", action="store_true", help="use the model in this process, not a running engine")
