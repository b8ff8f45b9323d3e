"""`midfill` as a process of its own, with a scripted engine: run by tests as `python scripted_fill.py fill ...`.

SCRIPTED_TEXT is what every fill gives; SCRIPTED_STAND is the step before which it stands still for ever.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from midfill_engine.api import Engine, EngineOptions
from midfill_server import cli
from midfill_server.commands import fill
from midfill_server.commands.engines import Doors
from support.scripted import Answer, Gate, ScriptedEngine


def main(argv: Sequence[str]) -> int:
    return fill.main([*argv, "--no-engine"], Doors(open_local=_open))


def _open(options: EngineOptions) -> Engine:
    stand = int(os.environ.get("SCRIPTED_STAND", "0"))
    answer = Answer(
        text=os.environ.get("SCRIPTED_TEXT", "a + b"), num_steps=8, gate=Gate(before_step=stand) if stand else None
    )
    return ScriptedEngine([answer])


if __name__ == "__main__":
    cli.main({"fill": cli.Command(module="scripted_fill", help="")})
