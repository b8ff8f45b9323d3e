"""`midfill engine`: the engine processes of this user, shared by editors: start, stop, look at them."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, cast

from midfill_engine import api
from midfill_engine.api import EngineOptions, EngineState, EngineStatus, OnLoad
from midfill_server.commands.parser import OneLineParser
from midfill_server.commands.views import QuietView, choose_loading_view


class Fleet(Protocol):
    """The user's engine processes: of the api, what this command uses."""

    async def engine_statuses(self, options: EngineOptions) -> tuple[EngineStatus, ...]: ...

    async def start_engine(self, options: EngineOptions, on_load: OnLoad | None = None) -> EngineStatus: ...

    async def stop_engine(self, options: EngineOptions, every: bool = False) -> int: ...


def main(argv: Sequence[str], fleet: Fleet = api) -> int:
    arguments = _parser().parse_args(argv)
    action = cast(Callable[[Fleet, argparse.Namespace], Coroutine[Any, Any, None]], arguments.action)
    asyncio.run(action(fleet, arguments))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog="midfill engine", description="The engine processes that your editors share.")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    start = actions.add_parser("start", help="start an engine and load its model, unless that runs")
    start.set_defaults(action=_start)
    _add_which(start)
    start.add_argument("--threads", type=int, default=EngineOptions.num_threads, metavar="N", help="CPU threads")
    start.add_argument(
        "--idle-timeout",
        type=float,
        default=EngineOptions.idle_timeout_s,
        metavar="SECONDS",
        help="ends when nobody has used it for so long (default: %(default)s)",
    )
    stop = actions.add_parser("stop", help="stop an engine")
    stop.set_defaults(action=_stop)
    _add_which(stop)
    stop.add_argument("--all", action="store_true", help="stop every engine of yours")
    status = actions.add_parser("status", help="what your engines are doing")
    status.set_defaults(action=_status)
    for action in (start, status):
        action.add_argument("--json", action="store_true", help="print one line of JSON")
    for action in (start, stop, status):
        action.add_argument("--runtime-dir", type=Path, metavar="FOLDER", help="default: the one of your system")
    return parser


def _add_which(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", default=EngineOptions.preset, metavar="NAME|FOLDER", help="default: %(default)s")
    parser.add_argument("--device", default=EngineOptions.device, metavar="NAME", help="default: %(default)s")


def _options(arguments: argparse.Namespace) -> EngineOptions:
    return EngineOptions(
        preset=getattr(arguments, "preset", EngineOptions.preset),
        device=getattr(arguments, "device", EngineOptions.device),
        num_threads=getattr(arguments, "threads", EngineOptions.num_threads),
        idle_timeout_s=getattr(arguments, "idle_timeout", EngineOptions.idle_timeout_s),
        runtime_dir=arguments.runtime_dir,
    )


async def _start(fleet: Fleet, arguments: argparse.Namespace) -> None:
    options = _options(arguments)
    view = choose_loading_view()

    def tell(share: float, message: str) -> None:
        view.on_status(EngineStatus(state=EngineState.LOADING, preset=options.preset, progress=share, message=message))

    try:
        status = await fleet.start_engine(options, None if isinstance(view, QuietView) else tell)
    finally:
        view.close()
    print(json.dumps(asdict(status)) if arguments.json else describe(status))


async def _stop(fleet: Fleet, arguments: argparse.Namespace) -> None:
    num_stopped = await fleet.stop_engine(_options(arguments), every=arguments.all)
    print("no engine was running" if num_stopped == 0 else f"stopped {num_stopped}")


async def _status(fleet: Fleet, arguments: argparse.Namespace) -> None:
    statuses = await fleet.engine_statuses(_options(arguments))
    if arguments.json:
        print(json.dumps({"engines": [asdict(status) for status in statuses]}))
    else:
        print("\n".join(describe(status) for status in statuses) or "no engine is running")


def describe(status: EngineStatus) -> str:
    """One line for people."""
    parts = [f"{status.preset}: {status.state}"]
    if status.state is EngineState.LOADING:
        parts.append(f"{status.progress:.0%}")
    if status.message:
        parts.append(status.message)
    parts += [f"on {status.device or 'no device yet'}", f"process {status.pid}"]
    if status.memory:
        parts.append(f"{status.memory / 2**20:.0f} MiB")
    parts += [f"{status.num_fills} fills", f"idle for {status.idle_s:.0f} s"]
    return ", ".join(parts)
