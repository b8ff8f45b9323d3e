"""Secrets that are known by their shape, wherever they stand: private keys and the tokens of well-known services.

Every shape fits on one line, so that after a keystroke only the lines that it touched are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

PRIVATE_KEY = r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[ \t]*(?:\r|$|\\[nr])"
"""The head of a key that is followed by one. Code that only looks for such heads has a quote behind it."""

TOKENS = {
    "ghp_": r"[A-Za-z0-9]{36}",
    "gho_": r"[A-Za-z0-9]{36}",
    "ghu_": r"[A-Za-z0-9]{36}",
    "ghs_": r"[A-Za-z0-9]{36}",
    "ghr_": r"[A-Za-z0-9]{36}",
    "github_pat_": r"\w{22,}",
    "glpat-": r"[\w-]{20,}",
    "AKIA": r"[0-9A-Z]{16}\b",
    "ASIA": r"[0-9A-Z]{16}\b",
    "xox": r"[abprs]-[\w-]{10,}",
    "sk_live_": r"[0-9A-Za-z]{16,}",
    "rk_live_": r"[0-9A-Za-z]{16,}",
    "sk-ant-": r"[\w-]{20,}",
    "sk-proj-": r"[\w-]{20,}",
    "AIza": r"[\w-]{35}",
    "hf_": r"[A-Za-z0-9]{34}",
    "npm_": r"[A-Za-z0-9]{36}",
    "pypi-": r"AgEIcHlwaS5vcmc[\w-]{50,}",
    "SG.": r"[\w-]{22}\.[\w-]{43}",
}
"""How a token begins, and what follows."""

BEGINNINGS = ("PRIVATE KEY", *TOKENS)
SHAPES = re.compile(
    rf"{PRIVATE_KEY}|\b(?:{'|'.join(re.escape(head) + rest for head, rest in TOKENS.items())})", re.MULTILINE
)


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
    """The first line with a secret in it. Most texts have not even a beginning of one, which is quickly seen."""
    text = "".join(lines)
    if not any(beginning in text for beginning in BEGINNINGS):
        return None
    return next((line for line in lines if SHAPES.search(line)), None)
