"""`midfill stats`: what came of suggestions so far, from the user's own file."""

from __future__ import annotations

import json
from collections.abc import Sequence

from midfill_server import tally_file
from midfill_server.commands.errors import CommandError
from midfill_server.commands.parser import OneLineParser
from midfill_server.stats_view import figures, rows


def main(argv: Sequence[str]) -> int:
    """Run the command; its exit code."""
    parser = OneLineParser(
        prog="midfill stats",
        description="Show what came of suggestions. The numbers are kept on this machine only.",
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.add_argument("--reset", action="store_true", help="begin anew")
    options = parser.parse_args(list(argv))
    path = tally_file.default_path()
    if options.reset:
        try:
            tally_file.reset(path)
        except OSError as error:
            raise CommandError(f"{path} cannot be removed: {error.strerror}") from None
    tally = tally_file.read(path)
    if options.json:
        print(json.dumps(figures(tally)))
    else:
        width = max(len(name) for name, _value in rows(tally))
        print("\n".join(f"{name:<{width}}  {value}" for name, value in rows(tally)))
    return 0
