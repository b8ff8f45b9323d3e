"""What is put into a hole passes the same repairs and the same gate as ghost text."""

from __future__ import annotations

import pytest

from midfill_engine.api import Candidate
from midfill_server.documents import Document
from midfill_server.ondemand.choosing import filled_best
from midfill_server.ondemand.filled import Filling
from midfill_server.ondemand.place import Place
from midfill_server.ondemand.task import Hole
from midfill_server.positions import Point


def filled(language: str, marked: str, *drafts: str) -> str:
    """The text with the best of the drafts at `¦`."""
    before, after = marked.split("¦")
    point = Point(before.count("\n"), len(before.rpartition("\n")[2]))
    document = Document("file:///a", language, 1, before + after)
    candidates = [Candidate(text=text, confidence=0.5) for text in drafts]
    filling = filled_best(Filling(document), [(0, Hole(place=Place(point, point)))], candidates, ())
    return "".join(filling.copy.lines)


@pytest.mark.parametrize(
    ("language", "marked", "said", "expected"),
    [
        ("json", '{\n  "a": ¦\n  "b": 2\n}\n', "1", '{\n  "a": 1,\n  "b": 2\n}\n'),
        ("html", "<ul>\n  <li>a¦\n</ul>\n", "b</lo>", "<ul>\n  <li>ab</li>\n</ul>\n"),
        ("html", "<p>a</p>¦\n", "</div>", "<p>a</p>\n"),
        ("markdown", "| a | b |\n|---|---|\n¦\n", "| 1 |", "| a | b |\n|---|---|\n| 1 |   |\n"),
    ],
)
def test_a_draft_is_repaired(language: str, marked: str, said: str, expected: str) -> None:
    assert filled(language, marked, said) == expected


def test_a_sound_draft_goes_before_one_that_breaks_the_text() -> None:
    assert filled("toml", "a = ¦\n", "1 b = 2", "1") == "a = 1\n"
    assert filled("python", "def f(a=1, ¦): ...\n", "b", "b=2") == "def f(a=1, b=2): ...\n"


def test_the_only_draft_is_put_in_whatever_it_does() -> None:
    """Somebody has asked for it, and can take it back."""
    assert filled("python", "x = ¦\n", "1 1") == "x = 1 1\n"
