"""`midfill serve`: the language server on stdin and stdout."""

from __future__ import annotations

from collections.abc import Sequence

from midfill_server.commands.parser import OneLineParser


def main(argv: Sequence[str]) -> int:
    """Returns when the editor is gone; most often the server ends the process itself."""
    parser = OneLineParser(
        prog="midfill serve",
        description="Be a language server on stdin and stdout, as editors start it. Settings come from the editor.",
    )
    parser.add_argument("--stdio", action="store_true", help="nothing else is spoken; for editors that add it")
    parser.parse_args(argv)

    from midfill_server.app import run_stdio

    run_stdio()
    return 0
