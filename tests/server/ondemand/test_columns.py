"""An empty column of a table: what is filled when the cursor `¦` stands in it, told as whole texts."""

from __future__ import annotations

import pytest

from midfill_engine.api import Candidate, Mode
from midfill_server.documents import Document
from midfill_server.ondemand.choosing import filled_best
from midfill_server.ondemand.columns import column_task
from midfill_server.ondemand.filled import Filling
from midfill_server.ondemand.place import Place
from midfill_server.ondemand.selecting import FILL, fill_task
from midfill_server.positions import Point

EMPTY = "| a | b    |\n|---|------|\n| 1 |{}      |\n| 2 |      |\n| 3 |      |\n\ntext\n"
FULL = "| a | b    |\n|---|------|\n| 1 | x    |\n| 2 | yy   |\n| 3 | long name |\n\ntext\n"
LACKING = "| a | new{} |\n|---|\n| 1 |\n| 2 |\n| 3\n"
LACKED = "| a | new |\n|---|---|\n| 1 | x |\n| 2 | yy |\n| 3 | long name |\n"


def at(marked: str) -> tuple[Document, Place]:
    before, after = marked.split("¦")
    point = Point(before.count("\n"), len(before.rpartition("\n")[2]))
    return Document("file:///a.md", "markdown", 1, before + after), Place(point, point)


def filled(marked: str, *texts: str) -> str | None:
    document, place = at(marked)
    task = column_task(document, place)
    if task is None:
        return None
    assert task.mode is Mode.LINE
    group = tuple(enumerate(task.holes))
    filling = filled_best(Filling(document), group, [Candidate(text=texts[0], texts=texts, confidence=0.5)], ())
    return "".join(filling.copy.lines)


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        (EMPTY.format("¦"), FULL),
        (EMPTY.format("").replace("| 2 | ", "| 2 | ¦"), FULL),
        (EMPTY.format("").replace("| 2 |  ", "| 2 |¦  "), FULL),
        (EMPTY.format("").replace("b  ", "b¦  "), FULL),
        (LACKING.format("¦"), LACKED),
        (LACKING.format("¦").replace("\n", "\r\n"), LACKED.replace("\n", "\r\n")),
        (LACKING.format("").replace("| 2 |", "| 2 |¦"), LACKED),
    ],
)
def test_every_empty_cell_is_filled_and_the_pipes_stay_in_place(marked: str, expected: str) -> None:
    assert filled(marked, "x", "yy", "long name") == expected


@pytest.mark.parametrize(
    "marked",
    [
        "¦| a | b |\n|---|---|\n| 1 |   |\n",
        "| a | b |\n|---|-¦--|\n| 1 |   |\n",
        "| a | b |\n|---|---|\n| ¦1 |   |\n| 2 |   |\n",
        "| a | b |\n|---|---|\n| 1 | ¦  |\n| 2 | 3 |\n",
        "| a | b¦ |\n|---|---|\n| 1 | 2 |\n",
        "| a | b |\n| 1 | ¦  |\n| 2 |   |\n",
        "text ¦\n",
        "¦",
    ],
)
def test_where_no_column_is_meant(marked: str) -> None:
    document, place = at(marked)
    assert column_task(document, place) is None
    assert fill_task(document, place, "").title == FILL


def test_other_cells_stay_as_they_are_and_a_cell_may_stay_empty() -> None:
    marked = "| a¦ | b |\n|---|---|\n|   | 1 |\n| x | 2 |\n||3|\n"
    assert filled(marked, "y", "z") == "| a | b |\n|---|---|\n| y | 1 |\n| x | 2 |\n| z |3|\n"
    assert filled(marked, "", "z") == "| a | b |\n|---|---|\n|   | 1 |\n| x | 2 |\n| z |3|\n"
