"""Notebooks: which cells they have, in which order, and what of them is around each cell.

Cells are documents like others. What a notebook adds is that those before and after one are part of its text as a
model sees it; positions stay those of the cell. Cells with a secret in them are never shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from midfill_server.cells import as_seen_from
from midfill_server.documents import Document, DocumentStore

BETWEEN = "\n"
"""The line between two cells."""


class Notebooks:
    """The open notebooks of one client: the uris of their cells, in order."""

    def __init__(self, documents: DocumentStore) -> None:
        self._documents = documents
        self._cells: dict[str, list[str]] = {}

    def open(self, uri: str, cells: Iterable[str]) -> None:
        """Keep a notebook; its cells' documents have been opened."""
        self._cells[uri] = list(cells)
        self._tell_cells(uri)

    def splice(self, uri: str, start: int, num_deleted: int, cells: Iterable[str]) -> None:
        """Cells were put in, taken out or moved."""
        kept = self._cells.setdefault(uri, [])
        kept[start : start + num_deleted] = cells
        self._tell_cells(uri)

    def close(self, uri: str) -> list[str]:
        """Forget a notebook; the uris of its cells, whose documents are to be closed."""
        return self._cells.pop(uri, [])

    def _tell_cells(self, uri: str) -> None:
        cells = self._cells[uri]
        for cell in cells:
            if (document := self._documents.get(cell)) is not None:
                document.around = _Cell(cell, cells, self._documents)


class _Cell:
    """What is around one cell: found out again when another cell has changed."""

    def __init__(self, uri: str, cells: Sequence[str], documents: DocumentStore) -> None:
        self._uri = uri
        self._cells = cells
        self._documents = documents
        self._state: object = None
        self._before: list[str] = []
        self._after: list[str] = []

    def __call__(self, document: Document) -> tuple[list[str], list[str]]:
        others = [found for uri in self._cells if (found := self._documents.get(uri)) is not None]
        state = [(other, other.num_changes) for other in others if other.uri != self._uri]
        here = next((index for index, other in enumerate(others) if other.uri == self._uri), len(others))
        if (here, document.language, state) != self._state:
            self._state = (here, document.language, state)
            self._before = [line for cell in _shown(document, others[:here]) for line in (*cell, BETWEEN)]
            self._after = [line for cell in _shown(document, others[here + 1 :]) for line in (BETWEEN, *cell)]
        return self._before, self._after


def _shown(document: Document, others: Iterable[Document]) -> Iterable[list[str]]:
    for other in others:
        lines = [] if other.has_secret else as_seen_from(document.language, other.language, other.lines)
        if lines:
            yield lines
