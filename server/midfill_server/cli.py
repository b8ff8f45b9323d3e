"""The command `midfill`: finds the command that was asked for and imports only that.

Importing this module must stay cheap: `midfill serve` has to answer an editor in a blink, so neither argparse trees of
other commands nor anything that imports torch is loaded on the way.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import NoReturn, cast

from midfill_server.commands.boundary import INTERRUPTED, exit_code_of, say
from midfill_server.commands.errors import CommandError
from midfill_server.commands.parser import OneLineParser

Main = Callable[[Sequence[str]], int]


@dataclass(frozen=True, kw_only=True)
class Command:
    """`module` has a `main(argv) -> exit code`."""

    module: str
    help: str

    def load(self) -> Main:
        """Import the command; CommandError if this installation does not have it."""
        if find_spec(self.module) is None:
            raise CommandError(f"this installation has no {self.module}: install the whole package again")
        return cast(Main, import_module(self.module).main)


# Some commands belong to the engine and import torch. They are named as strings, like the entry points of a plug-in, so
# that the server imports nothing of the engine but its api: import-linter holds that for whatever is written as an
# import, and a string is looked up only when somebody runs that very command.
COMMANDS: Mapping[str, Command] = {
    "fill": Command(module="midfill_server.commands.fill", help="fill a hole in a file"),
    "serve": Command(module="midfill_server.commands.serve", help="be a language server on stdin and stdout"),
    "engine": Command(module="midfill_server.commands.engine", help="start, stop or look at the engine process"),
    "gateway": Command(module="midfill_engine.gateway", help="serve plugins that speak llama.cpp's or OpenAI's HTTP"),
    "doctor": Command(module="midfill_server.commands.doctor", help="say what works, what does not, and what to do"),
    "stats": Command(module="midfill_server.commands.stats", help="show what came of suggestions"),
    "bench": Command(module="midfill_engine.bench", help="measure speed"),
    "eval": Command(module="midfill_engine.evaluate", help="measure quality"),
    "train": Command(module="midfill_server.commands.train", help="train a model of the shipped kind"),
}


def main(commands: Mapping[str, Command] = COMMANDS) -> NoReturn:
    """The entry point of the process."""
    code = _flush(run(sys.argv[1:], commands))
    if code == INTERRUPTED:
        os._exit(INTERRUPTED)  # a model that is being loaded does not keep us: its thread cannot be interrupted
    sys.exit(code)


def run(argv: Sequence[str], commands: Mapping[str, Command] = COMMANDS) -> int:
    """Run the command that `argv` names; its exit code."""
    try:
        return exit_code_of(lambda: _dispatch(argv, commands))
    except SystemExit as stop:  # argparse after --help or a wrong option
        return stop.code if isinstance(stop.code, int) else 0


def _dispatch(argv: Sequence[str], commands: Mapping[str, Command]) -> int:
    if argv and argv[0] in commands:
        return commands[argv[0]].load()(argv[1:])
    return _refuse(argv)


def _refuse(argv: Sequence[str]) -> NoReturn:
    """Answers --help and --version, and refuses everything else; argparse exits either way."""
    from argparse import RawDescriptionHelpFormatter

    from midfill_engine import __version__

    parser = OneLineParser(
        prog="midfill",
        usage="midfill COMMAND [OPTIONS]",
        description="Fills the middle of code with a local text-diffusion model.",
        epilog=_list_of_commands(),
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"midfill {__version__}")
    parser.add_argument("command", nargs="?", help="one of the commands below", choices=list(COMMANDS))
    parser.parse_args(argv[:1])
    parser.error(f"no command given, take one of {', '.join(COMMANDS)}")


def _list_of_commands() -> str:
    rows = [f"  {name:<8} {command.help}" for name, command in COMMANDS.items()]
    return "\n".join(["commands:", *rows, "", "midfill COMMAND --help tells more."])


def _flush(code: int) -> int:
    """Hand the last output over while errors can still be told; nothing is left for the interpreter to fail on."""
    if sys.stdout is None:
        return code
    try:
        sys.stdout.flush()
    except OSError as error:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
        if code == 0:
            say(f"the output could not be written: {error.strerror}")
        return code or 1
    return code


if __name__ == "__main__":
    main()
