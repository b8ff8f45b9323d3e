"""The `train` commands. Importing this imports no torch: every command loads what it needs when it runs.

train data       packages -> corpus file, SOURCES list, token shards
train tokenizer  corpus -> tokenizer
train run        shards -> state, weights, log
train whole      corpus file -> shards, state, weights, log, report: all of it, in a given time
train export     state -> a folder `from_pretrained` loads
train report     log -> a table and a JSON line
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from midfill_engine.train.run import RunSettings


def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `train` and its commands; each sets `command`, a function from the parsed arguments to an exit status."""
    train = subparsers.add_parser("train", help="train the small model that ships with midfill")
    commands = train.add_subparsers(required=True, metavar="COMMAND")
    _add_data(commands.add_parser("data", help="build the corpus and its token shards"))
    _add_tokenizer(commands.add_parser("tokenizer", help="train a tokenizer on a corpus"))
    _add_run(commands.add_parser("run", help="train, or go on training"))
    _add_whole(commands.add_parser("whole", help="from a corpus file to weights in a given time"))
    _add_export(commands.add_parser("export", help="write a run's weights as a model folder"))
    _add_report(commands.add_parser("report", help="summarise a run's log"))


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="where the corpus, SOURCES.tsv and the shards go")
    parser.add_argument("--wheels", type=Path, help="a folder of wheels")
    parser.add_argument("--installed", nargs="*", default=[], metavar="PACKAGE", help="installed packages to add")
    parser.add_argument("--stdlib", action="store_true", help="add Python's standard library")
    parser.add_argument("--corpus", type=Path, help="take this corpus file instead of packages")
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json: write token shards too")
    parser.add_argument("--share", type=float, default=1.0, help="share of the training files to take from --corpus")
    parser.add_argument("--compress", action="store_true", help="write corpus.jsonl.xz (one file to carry to a GPU)")
    parser.set_defaults(command=_data)


def _add_tokenizer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", type=Path)
    parser.add_argument("folder", type=Path, help="where tokenizer.json goes")
    parser.add_argument("--vocabulary", type=int, default=8192)
    parser.set_defaults(command=_tokenizer)


def _add_run(parser: argparse.ArgumentParser) -> None:
    _add_run_options(parser)
    parser.add_argument("--phase", choices=("causal", "joint"), default="joint")
    parser.set_defaults(command=_run)


def _add_whole(parser: argparse.ArgumentParser) -> None:
    _add_run_options(parser)
    parser.add_argument("--corpus", type=Path, required=True, help="the corpus file `train data` wrote")
    parser.add_argument("--share", type=float, default=1.0, help="share of its training files to take")
    parser.set_defaults(command=_whole, phase="joint")


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="the run's folder; a run that is there goes on")
    parser.add_argument("--shards", type=Path, required=True, help="the folder `train data` wrote")
    parser.add_argument(
        "--start", type=Path, required=True, help="a model folder: configuration, tokenizer, first weights"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="initialise new weights instead of taking those of --start"
    )
    parser.add_argument("--steps", type=int, default=0, help="optimiser steps of this phase, 0 for no bound")
    parser.add_argument("--seconds", type=float, default=0.0, help="training time of this phase, 0 for no bound")
    parser.add_argument("--windows", type=int, default=16, help="windows an optimiser step")
    parser.add_argument("--micro", type=int, default=8, help="windows a forward and backward pass")
    parser.add_argument("--muon-lr", type=float, default=4e-3)
    parser.add_argument("--adam-lr", type=float, default=2e-3)
    parser.add_argument("--average-decay", type=float, default=0.998)
    parser.add_argument("--causal-weight", type=float, default=1.0)
    parser.add_argument(
        "--decay", type=float, default=0.3, help="share of the phase over which the learning rate falls"
    )
    parser.add_argument("--warmup-steps", type=int, default=50)
    parser.add_argument("--save-s", type=float, default=300.0, help="seconds between saves")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workers", type=int, default=0, help="processes that draw batches ahead")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--seed", type=int, default=0)


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="the run's folder")
    parser.add_argument("target", type=Path, help="the model folder to write")
    parser.add_argument("--start", type=Path, required=True, help="the model folder the run began with")
    parser.add_argument("--last", action="store_true", help="the last weights instead of their running average")
    parser.set_defaults(command=_export)


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="the run's folder")
    parser.add_argument("--rows", type=int, default=20, help="rows of the table")
    parser.set_defaults(command=_report)


def _data(arguments: argparse.Namespace) -> int:
    from midfill_engine.train.build import build

    build(
        arguments.folder,
        wheels=arguments.wheels,
        installed=arguments.installed,
        has_stdlib=arguments.stdlib,
        corpus_file=arguments.corpus,
        tokenizer_file=arguments.tokenizer,
        share=arguments.share,
        is_compressed=arguments.compress,
    )
    return 0


def _tokenizer(arguments: argparse.Namespace) -> int:
    from midfill_engine.train.corpus import read_corpus
    from midfill_engine.train.tokenizer import save_tokenizer, train_tokenizer

    corpus = read_corpus(arguments.corpus)
    texts = [file.text for file in corpus.files if file.split == "train"]
    save_tokenizer(train_tokenizer(texts, arguments.vocabulary), arguments.folder)
    return 0


def _run(arguments: argparse.Namespace) -> int:
    from midfill_engine.train.run import run

    run(run_settings(arguments))
    return 0


def _whole(arguments: argparse.Namespace) -> int:
    from midfill_engine.train.whole import train_whole

    train_whole(arguments.corpus, run_settings(arguments), arguments.share)
    return 0


def run_settings(arguments: argparse.Namespace) -> RunSettings:
    """The settings that the arguments of `train run` ask for."""
    from midfill_engine.train.objective import ObjectiveSettings
    from midfill_engine.train.optimise import OptimiserSettings
    from midfill_engine.train.run import RunSettings

    return RunSettings(
        folder=arguments.folder,
        shards=arguments.shards,
        start=arguments.start,
        is_fresh=arguments.fresh,
        phase=arguments.phase,
        steps=arguments.steps,
        seconds=arguments.seconds,
        windows=arguments.windows,
        micro=arguments.micro,
        decay=arguments.decay,
        warmup_steps=arguments.warmup_steps,
        save_s=arguments.save_s,
        device=arguments.device,
        threads=arguments.threads,
        num_workers=arguments.workers,
        is_compiled=not arguments.no_compile,
        seed=arguments.seed,
        optimiser=OptimiserSettings(
            muon_lr=arguments.muon_lr, adam_lr=arguments.adam_lr, average_decay=arguments.average_decay
        ),
        objective=ObjectiveSettings(causal_weight=arguments.causal_weight),
    )


def _export(arguments: argparse.Namespace) -> int:
    from midfill_engine.train.state import export_run

    export_run(arguments.folder, arguments.start, arguments.target, is_averaged=not arguments.last)
    return 0


def _report(arguments: argparse.Namespace) -> int:
    from midfill_engine.train.report import print_report

    print_report(arguments.folder, arguments.rows)
    return 0
