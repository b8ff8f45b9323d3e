"""Pieces of other open files for a request.

They stay the same while somebody types: a new choice is made only after a pause or when the cursor has gone elsewhere,
or the engine would read everything anew at each key. Whether a file may be shown is asked each time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from midfill_engine.api import Snippet
from midfill_server.context.windows import WINDOW_LINES, Window, names_in, windows_of
from midfill_server.documents import Document, DocumentStore
from midfill_server.snapshot import for_model
from midfill_server.uris import path_of

MOST_FILES = 3
MOST_VISITED = 12
MOST_CHARACTERS = 2_500
"""Of one file."""

LINES_AROUND = 20
NEAR_LINES = 10
SAME_PLACE_LINES = 12
PAUSE_S = 8.0
LEAST_LIKENESS = 0.06
WORTH_OF_DEFINITION = 0.5
MOST_DEFINITIONS = 2

WhyOff = Callable[[Document], str]


@dataclass(frozen=True, kw_only=True)
class _Piece:
    source: Document
    snippet: Snippet


@dataclass
class _Choice:
    """What was chosen for a place, and when it was last used."""

    uri: str
    row: int
    used_at: float
    pieces: tuple[_Piece, ...]


@dataclass
class _Cut:
    num_changes: int
    windows: tuple[Window, ...]


@dataclass(kw_only=True)
class Neighbours:
    """The files that were visited lately, newest last. `why_off`: why a document is not to be shown, or nothing."""

    documents: DocumentStore
    why_off: WhyOff
    now: Callable[[], float] = time.monotonic
    _visited: dict[str, None] = field(default_factory=dict)
    _cuts: dict[str, _Cut] = field(default_factory=dict)
    _choice: _Choice | None = None

    def note(self, uri: str) -> None:
        """A document was opened, edited or turned to."""
        self._visited.pop(uri, None)
        self._visited[uri] = None

    def forget(self, uri: str) -> None:
        """A document was closed."""
        self._visited.pop(uri, None)
        self._cuts.pop(uri, None)

    def snippets(self, uri: str, row: int) -> tuple[Snippet, ...]:
        """What to show with a request at a row of a document."""
        document, choice = self.documents.get(uri), self._choice
        if document is None:
            return ()
        if choice is None or not self._is_same_place(choice, uri, row):
            choice = self._choice = _Choice(uri=uri, row=row, used_at=0.0, pieces=self._choose(document, row))
        choice.used_at = self.now()
        return tuple(piece.snippet for piece in choice.pieces if self._may_show(piece.source))

    def _is_same_place(self, choice: _Choice, uri: str, row: int) -> bool:
        is_near = choice.uri == uri and abs(choice.row - row) < SAME_PLACE_LINES
        return is_near and self.now() - choice.used_at < PAUSE_S

    def _may_show(self, document: Document) -> bool:
        return self.documents.get(document.uri) is document and not self.why_off(document)

    def _choose(self, document: Document, row: int) -> tuple[_Piece, ...]:
        around = names_in(document.lines[max(0, row - LINES_AROUND) : row + LINES_AROUND])
        near = names_in(document.lines[max(0, row - NEAR_LINES) : row + NEAR_LINES])
        found = [best for source in self._sources(document) if (best := self._best(source, around, near))]
        found.sort(key=lambda entry: -entry[0])
        return tuple(piece for _, piece in found[:MOST_FILES])

    def _sources(self, document: Document) -> Sequence[Document]:
        own = _file(document.uri)
        uris = [uri for uri in reversed(self._visited) if _file(uri) != own][:MOST_VISITED]
        sources = [source for uri in uris if (source := self.documents.get(uri)) is not None]
        return [source for source in sources if not self.why_off(source)]

    def _best(self, source: Document, around: frozenset[str], near: frozenset[str]) -> tuple[float, _Piece] | None:
        scored = [(_worth(window, around, near), window) for window in self._windows(source)]
        worth, window = max(scored, key=lambda entry: entry[0], default=(0.0, None))
        if window is None or worth < LEAST_LIKENESS:
            return None
        rows = [row for name, row in window.defined.items() if name in near]
        text = _text(source.lines, min(rows, default=window.row))
        return worth, _Piece(source=source, snippet=Snippet(path=path_of(source.uri).rpartition("/")[2], text=text))

    def _windows(self, source: Document) -> tuple[Window, ...]:
        cut = self._cuts.get(source.uri)
        if cut is None or cut.num_changes != source.num_changes:
            cut = self._cuts[source.uri] = _Cut(source.num_changes, windows_of(source.lines))
        return cut.windows


def _file(uri: str) -> str:
    """The cells of a notebook are one."""
    return uri.partition("#")[0]


def _worth(window: Window, around: frozenset[str], near: frozenset[str]) -> float:
    """How much of all names both have (Jaccard), and what a definition of a name near the cursor is worth besides."""
    union = len(window.names | around)
    num_definitions = min(MOST_DEFINITIONS, sum(name in near for name in window.defined))
    return (len(window.names & around) / union if union else 0.0) + WORTH_OF_DEFINITION * num_definitions


def _text(lines: Sequence[str], row: int) -> str:
    """Whole lines from a row on, as many as the bounds allow."""
    text = ""
    for line in lines[row : row + WINDOW_LINES]:
        if len(text) + len(line) > MOST_CHARACTERS:
            break
        text += line
    return for_model(text).strip("\n")
