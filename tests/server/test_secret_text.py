"""Secrets by their shape: a document that holds one is off, and on again when it is gone."""

from __future__ import annotations

import random

import pytest

from midfill_server.documents import Document, Edit, Span
from midfill_server.exclusions import why_off_in
from midfill_server.positions import Encoding
from midfill_server.secret_text import first_secret
from midfill_server.settings import Settings

HEAD = "-----BEGIN {}PRIVATE KEY-----"
TOKEN = "ghp_" + "a1B2" * 9
PIECES = ("x = 1\n", f'y = "{TOKEN}"', "\n", "\r", "\r\n", TOKEN[:20], TOKEN[20:], HEAD.format("RSA "), '"')


def why(text: str) -> str:
    return why_off_in(Document("file:///a.py", "python", 1, text), Settings())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\\nMIIE", ""])
@pytest.mark.parametrize("kind", ["", "RSA ", "OPENSSH ", "ENCRYPTED "])
def test_private_keys(kind: str, end: str) -> None:
    assert "secret" in why("a = 1\n" + HEAD.format(kind) + end)


@pytest.mark.parametrize(
    "token", [TOKEN, "AKIA" + "Q7" * 8, "glpat-" + "x" * 20, "xoxb-" + "1" * 12, "AIza" + "b" * 35]
)
def test_tokens(token: str) -> None:
    assert "secret" in why(f'token = "{token}"\n')


@pytest.mark.parametrize("text", ["", "ghp_short", 'if "' + HEAD.format("") + '" in text:', "task-ant-" + "a" * 30])
def test_what_only_looks_like_one(text: str) -> None:
    assert why(text) == ""


@pytest.mark.parametrize("seed", range(20))
def test_random_edits_agree_with_a_look_at_everything(seed: int) -> None:
    dice = random.Random(seed)
    document = Document("file:///a.py", "python", 1, "")
    for version in range(200):
        rows = sorted(dice.randrange(len(document.lines) + 1) for _ in "12")
        text = "".join(dice.choices(PIECES, k=dice.randrange(3)))
        span = Span(rows[0], dice.randrange(50), rows[1], dice.randrange(50))
        document.apply([Edit(text, span)], version, Encoding.UTF16)
        assert bool(document.has_secret) == (first_secret(document.lines) is not None)
