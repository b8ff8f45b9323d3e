"""`midfill train`: hands over to the engine's training commands, which bring their own arguments."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import cast

from midfill_server.commands.parser import OneLineParser

# A string, for the reason that is told at `cli.COMMANDS`.
TRAINING = "midfill_engine.train.cli"


def main(argv: Sequence[str]) -> int:
    parser = OneLineParser(prog="midfill")
    import_module(TRAINING).add_commands(parser.add_subparsers(required=True))
    arguments = parser.parse_args(["train", *argv])
    command = cast(Callable[[Namespace], int], arguments.command)
    return command(arguments)
