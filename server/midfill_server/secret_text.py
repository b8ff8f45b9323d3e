"""Secrets that are known by their shape, wherever they stand: private keys and the tokens of well-known services.

Every shape fits on one line, so that after a keystroke only the lines that it touched are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

PRIVATE_KEY = r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[ \t]*(?:\r|$|\\[nr])"
"""The head of a key that is followed by one. Code that only looks for such heads has a quote behind it."""

TOKENS = (
    r"gh[pousr]_[A-Za-z0-9]{36}",
    r"github_pat_\w{22,}",
    r"glpat-[\w-]{20,}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"xox[abprs]-[\w-]{10,}",
    r"[sr]k_live_[0-9A-Za-z]{16,}",
    r"sk-(?:ant|proj)-[\w-]{20,}",
    r"AIza[\w-]{35}",
    r"hf_[A-Za-z0-9]{34}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-AgEIcHlwaS5vcmc[\w-]{50,}",
    r"SG\.[\w-]{22}\.[\w-]{43}",
)
SHAPES = re.compile(rf"{PRIVATE_KEY}|\b(?:{'|'.join(TOKENS)})", re.MULTILINE)


class SecretMark:
    """Whether the lines of one document hold a secret, kept up to date as they change."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._line = first_secret(lines)

    def __bool__(self) -> bool:
        return self._line is not None

    def update(self, lines: Sequence[str], first: int, last: int) -> None:
        """Rows `first` to `last` are new."""
        if self._line is None:
            self._line = first_secret(lines[first : last + 1])
        elif self._line not in lines:
            self._line = first_secret(lines)


def first_secret(lines: Sequence[str]) -> str | None:
    """The first line with a secret in it."""
    return next((line for line in lines if SHAPES.search(line)), None)
