"""What of a notebook is around each of its cells."""

from __future__ import annotations

import pytest

from midfill_server.cells import as_seen_from
from midfill_server.documents import DocumentStore, Edit
from midfill_server.notebooks import Notebooks
from midfill_server.positions import Encoding
from midfill_server.snapshot import PREFIX_LIMIT, take

KEY = "AKIAIOSFODNN7EXAMPLE"


def notebook(*cells: tuple[str, str]) -> tuple[DocumentStore, Notebooks]:
    """Cells of (language, text), with the uris "cell:0" and so on in a scheme that is served."""
    documents = DocumentStore()
    for number, (language, text) in enumerate(cells):
        documents.open(uri(number), language, 1, text)
    notebooks = Notebooks(documents)
    notebooks.open("file:///n.ipynb", [uri(number) for number in range(len(cells))])
    return documents, notebooks


def uri(number: int) -> str:
    return f"vscode-notebook-cell:/n.ipynb#{number}"


def seen(documents: DocumentStore, number: int, line: int = 0, character: int = 0) -> tuple[str, str]:
    document = documents.get(uri(number))
    assert document is not None
    snapshot = take(document, line, character, Encoding.UTF16)
    assert (snapshot.row, snapshot.column) == (line, character)
    return snapshot.prefix, snapshot.suffix


def test_the_cells_around_one_are_its_context_and_positions_stay_its_own() -> None:
    documents, _ = notebook(("python", "a = 1"), ("markdown", "# Two\n\nmore"), ("python", "b = "), ("python", "c\n"))
    assert seen(documents, 2, 0, 4) == ("a = 1\n\n# # Two\n#\n# more\n\nb = ", "\n\nc\n")
    assert seen(documents, 0, 0, 5) == ("a = 1", "\n\n# # Two\n#\n# more\n\nb = \n\nc\n")


@pytest.mark.parametrize(
    ("language", "cell_language", "lines", "expected"),
    [
        ("python", "python", ["x\n", "y"], ["x\n", "y\n"]),
        ("python", "python", ["x\r\n", ""], ["x\r\n"]),
        (
            "python",
            "python",
            ["%matplotlib inline\n", "!ls\n", "x % y"],
            ["# %matplotlib inline\n", "# !ls\n", "x % y\n"],
        ),
        ("python", "python", ["%%bash\n", "ls"], ["# %%bash\n", "# ls\n"]),
        ("python", "sql", ["select 1"], ["# select 1\n"]),
        ("typescript", "markdown", ["so"], ["// so\n"]),
        ("html", "markdown", ["so"], []),
        ("markdown", "python", ["x"], ["```python\n", "x\n", "```\n"]),
        ("markdown", "markdown", ["so"], ["so\n"]),
        ("python", "python", [" \n", ""], []),
    ],
)
def test_how_a_cell_is_shown_in_another(
    language: str, cell_language: str, lines: list[str], expected: list[str]
) -> None:
    assert as_seen_from(language, cell_language, lines) == expected


def test_cells_that_change_come_and_go_are_seen_as_they_are() -> None:
    documents, notebooks = notebook(("python", "a"), ("python", "b"))
    assert seen(documents, 1) == ("a\n\n", "b")
    first = documents.get(uri(0))
    assert first is not None
    first.apply([Edit("aa")], 1, Encoding.UTF16)
    assert seen(documents, 1) == ("aa\n\n", "b")
    documents.open(uri(2), "python", 1, "c")
    notebooks.splice("file:///n.ipynb", 1, 0, [uri(2)])
    assert seen(documents, 1) == ("aa\n\nc\n\n", "b")
    notebooks.splice("file:///n.ipynb", 0, 2, [])
    assert seen(documents, 1) == ("", "b")


def test_a_cell_that_is_opened_anew_is_seen_as_it_is_now() -> None:
    documents, _ = notebook(("python", "a"), ("python", "b"))
    assert seen(documents, 1) == ("a\n\n", "b")
    documents.open(uri(0), "python", 1, "z")
    assert seen(documents, 1) == ("z\n\n", "b")


def test_a_cell_with_a_secret_is_not_shown_in_another() -> None:
    """Row 23: keys in one cell went to the model with the next."""
    documents, _ = notebook(("python", f"key = '{KEY}'"), ("python", "b"))
    assert seen(documents, 1) == ("", "b")


def test_a_large_notebook_is_bounded() -> None:
    documents, _ = notebook(*[("python", "0123456789abcde\n" * 1000)] * 20, ("python", "b"))
    prefix, _ = seen(documents, 20)
    assert PREFIX_LIMIT * 0.9 < len(prefix) <= PREFIX_LIMIT
