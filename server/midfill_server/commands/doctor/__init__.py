"""`midfill doctor`: what works, what does not, and the line to type.

A check is a file of this folder with a function from a `Case` to `Finding`s, and a name in the list below. They do not
know of each other. None imports a model library: what only such a library can tell is asked in a process of its own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from midfill_engine.api import EngineOptions
from midfill_server.commands.doctor import (
    devices,
    editors,
    engines,
    file,
    installation,
    models,
    runtime,
    space,
    trial,
)
from midfill_server.commands.doctor.finding import Case, Check, Finding, Level
from midfill_server.commands.parser import OneLineParser

CHECKS: tuple[Check, ...] = (
    installation.check,
    devices.check,
    space.check,
    models.check,
    runtime.check,
    engines.check,
    editors.check,
    file.check,
    trial.check,
)
SIGNS = {Level.OK: "ok    ", Level.HINT: "hint  ", Level.BROKEN: "BROKEN"}
WIDTH = 12


def main(argv: Sequence[str], checks: Iterable[Check] = CHECKS) -> int:
    """Run the checks and tell of each as soon as it is known; exit code 1 when something is broken."""
    arguments = _parser().parse_args(list(argv))
    found = []
    for finding in examine(_case(arguments), checks):
        found.append(finding)
        if not arguments.json:
            print(describe(finding), flush=True)
    is_broken = any(finding.level is Level.BROKEN for finding in found)
    if arguments.json:
        print(json.dumps({"isBroken": is_broken, "findings": [asdict(finding) for finding in found]}))
    return 1 if is_broken else 0


def examine(case: Case, checks: Iterable[Check]) -> Iterator[Finding]:
    """The findings of all checks; one that fails itself is a finding too, and the others go on."""
    for check in checks:
        try:
            yield from check(case)
        except Exception as error:
            name = check.__module__.rpartition(".")[2]
            told = f"this check has failed: {type(error).__name__}: {error}"
            yield Finding(topic=name, told=told, level=Level.BROKEN)


def describe(finding: Finding) -> str:
    """A line for people, and a second one if there is something to do."""
    line = f"{SIGNS[finding.level]}  {finding.topic:<{WIDTH}}  {finding.told}"
    return f"{line}\n{'':<{WIDTH + 10}}-> {finding.remedy}" if finding.remedy else line


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog="midfill doctor", description="Say what works, what does not, and what to do.")
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="where you miss suggestions")
    parser.add_argument("--preset", default=EngineOptions.preset, metavar="NAME|FOLDER", help="default: %(default)s")
    parser.add_argument("--device", default=EngineOptions.device, metavar="NAME", help="default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="load no model")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    return parser


def _case(arguments: argparse.Namespace) -> Case:
    options = EngineOptions(preset=arguments.preset, device=arguments.device)
    return Case(options=options, file=arguments.file, is_quick=arguments.quick)
