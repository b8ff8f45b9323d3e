"""argparse with errors of one line, as the rest of the program has them."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn


class OneLineParser(argparse.ArgumentParser):
    """Exits with 2 and one line on stderr instead of the whole usage text."""

    def error(self, message: str) -> NoReturn:
        print(f"midfill: {message} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)
