"""`python -m midfill_engine.service [OPTIONS]`: the engine process. OPTIONS: EngineOptions as JSON."""

from __future__ import annotations

import sys

from midfill_engine import wire
from midfill_engine.api import EngineError, EngineOptions
from midfill_engine.service.process import announce, leave, serve


def main(arguments: list[str]) -> int:
    try:
        options = wire.parse(arguments[0], EngineOptions) if arguments else EngineOptions()
    except EngineError as error:
        announce({"error": wire.error_to_wire(error)})
        return 1
    return serve(options)


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
