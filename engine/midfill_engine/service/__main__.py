"""`python -m midfill_engine.service [OPTIONS]`: the engine process. OPTIONS: EngineOptions as JSON."""

from __future__ import annotations

import sys

from midfill_engine import wire
from midfill_engine.api import EngineOptions
from midfill_engine.service.process import leave, serve


def main(arguments: list[str]) -> int:
    options = wire.parse(arguments[0], EngineOptions) if arguments else EngineOptions()
    return serve(options)


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
