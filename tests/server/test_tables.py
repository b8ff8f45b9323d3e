"""Rows of tables, told as whole texts: before with a cursor `¦`, what the model said, after."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_server.postprocess import Site, tidy
from midfill_server.postprocess.tables import DELIMITER, num_cells_of

HEAD = "| name  | size |\n|-------|------|\n| a     | 1    |\n"
TITLES = "| a | b \\| c | d |\n"
LOOSE = "| name | size |\n|---|---|\n| a | 1 |\n"


def result(marked: str, said: str) -> str:
    prefix, suffix = marked.split("¦")
    middle = tidy(said, Site(prefix, suffix))
    assert middle is not None
    return prefix + middle.text + suffix[middle.num_absorbed :]


@pytest.mark.parametrize(
    ("marked", "said", "expected"),
    [
        (HEAD + "¦\n", "| bb | 2 |", HEAD + "| bb    | 2    |\n"),
        (HEAD + "| b¦\n", "b | 2 |", HEAD + "| bb    | 2    |\n"),
        (HEAD + "| bb    | ¦\n", "2 |", HEAD + "| bb    | 2    |\n"),
        (HEAD + "¦\n", "| bb | 2 | 3 | 4 |", HEAD + "| bb    | 2    |\n"),
        (HEAD + "¦\n", "| bb |", HEAD + "| bb    |      |\n"),
        (HEAD + "¦\n", "| bb", HEAD + "| bb    |      |\n"),
        (HEAD + "¦\n", "| b | 2 |\n| c | 3 |", HEAD + "| b     | 2    |\n| c     | 3    |\n"),
        (HEAD + "¦\n", "| longer name | 2 |", HEAD + "| longer name | 2 |\n"),
        (LOOSE + "¦\n", "| bb | 2 |", LOOSE + "| bb | 2 |\n"),
        (LOOSE + "¦\n", r"| a\|b | 2 |", LOOSE + "| a\\|b | 2 |\n"),
        (LOOSE + "| ¦ | 2 |\n", "b | c", LOOSE + "| b | 2 |\n"),
        ("no table\n¦\n", "| a | b |", "no table\n| a | b |\n"),
        (HEAD + "¦\n| c | 3 |\n", "| b | 2 |", HEAD + "| b | 2 |\n| c | 3 |\n"),
        (HEAD + "¦\n| c     | 3    |\n", "| b | 2 |", HEAD + "| b     | 2    |\n| c     | 3    |\n"),
        (HEAD + "\n¦\n", "Then text.", HEAD + "\nThen text.\n"),
        ("x = (a |¦\n", " b)", "x = (a | b)\n"),
        (TITLES + "¦\n", "|---|---|", TITLES + "|---|---|---|\n"),
        (TITLES + "|¦\n", "---|", TITLES + "|---|---|---|\n"),
        (TITLES + "|---|-¦\n", "-", TITLES + "|---|--|--|\n"),
        (TITLES + "¦\n", "| :-- | -- | -- | -- |", TITLES + "| :-- | -- | -- |\n"),
        (TITLES + "¦\n", "| --: |\n| 1 |", TITLES + "| --: | --- | --- |\n| 1 |\n"),
        (TITLES + "¦\n", "|-|-|-|", TITLES + "|-|-|-|\n"),
        (TITLES + "¦\n|-|-|-|\n", "| - |", TITLES + "| - |\n|-|-|-|\n"),
        (TITLES[:-3] + "\n¦\n", "|---|---|", TITLES[:-3] + "\n|---|---|---|\n"),
    ],
)
def test_a_row_fits_its_table(marked: str, said: str, expected: str) -> None:
    """A row with other cells than the head has is lost by what shows the table."""
    assert result(marked, said) == expected


CELLS = st.lists(st.text("ab é", min_size=1, max_size=6).filter(str.strip), min_size=1, max_size=5)


@given(CELLS, st.sampled_from([HEAD, LOOSE]))
def test_whatever_is_said_the_row_has_the_cells_of_the_head(cells: list[str], head: str) -> None:
    row = result(head + "¦\n", "| " + " | ".join(cells) + " |").split("\n")[3]
    assert row.count("|") == 3
    given_cells = [cell.strip() for cell in cells[:2]]
    assert [cell.strip() for cell in re.split(r"\|", row)[1:-1]][: len(given_cells)] == given_cells


@given(CELLS, st.sampled_from(["---", ":-:", " -- ", " --: "]), st.integers(1, 6), st.booleans())
def test_a_delimiter_row_has_the_cells_of_the_head(titles: list[str], cell: str, num: int, is_closed: bool) -> None:
    """And where the model says as many, not a character is changed."""
    head = "| " + " | ".join(titles) + " |\n"
    said = "|" + f"{cell}|" * (num - 1) + cell + ("|" if is_closed else "")
    row = result(head + "¦\n", said).split("\n")[1]
    assert DELIMITER.match(row) or row == said.rstrip()
    assert num_cells_of(row) == len(titles)
    if num == len(titles):
        assert row == said.rstrip()
    assert all(each.strip() in (cell.strip(), cell.strip().replace(":", "-")) for each in row.strip("|").split("|"))
