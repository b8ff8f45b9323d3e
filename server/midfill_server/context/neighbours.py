"""Pieces of other open files for a request.

They stay the same while somebody types: a new choice is made only after a pause or when the cursor has gone elsewhere,
or the engine would read everything anew at each key. Whether a file may be shown is asked each time.

Files are cut up for that in a thread when nobody types. A request takes what is there, if need be from before the last
changes, and itself cuts up only a little.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from midfill_engine.api import Snippet
from midfill_server.context.windows import MOST_LINES, WINDOW_LINES, Window, names_in, windows_of
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
IDLE_S = 0.3
MOST_LINES_AT_ONCE = 400
"""Of files that a request itself cuts up: about two milliseconds."""
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


@dataclass(frozen=True)
class _Cut:
    source: Document
    num_changes: int
    windows: tuple[Window, ...]

    def is_of(self, source: Document) -> bool:
        """Whether that is the very document, unchanged."""
        return self.source is source and self.num_changes == source.num_changes


@dataclass(kw_only=True)
class Neighbours:
    """The files that were visited lately, newest last. `why_off`: why a document is not to be shown, or nothing."""

    documents: DocumentStore
    why_off: WhyOff
    now: Callable[[], float] = time.monotonic
    _visited: dict[str, None] = field(default_factory=dict)
    _cuts: dict[str, _Cut] = field(default_factory=dict)
    _choice: _Choice | None = None
    _waiting: asyncio.TimerHandle | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def note(self, uri: str) -> None:
        """A document was opened, edited or turned to."""
        self._visited.pop(uri, None)
        self._visited[uri] = None

    def forget(self, uri: str) -> None:
        """A document was closed."""
        self._visited.pop(uri, None)
        self._cuts.pop(uri, None)

    def prepare_later(self) -> None:
        """Cut up what has changed as soon as nobody types."""
        self._stop_waiting()
        self._waiting = asyncio.get_running_loop().call_later(IDLE_S, self._begin_to_prepare)

    async def prepare(self) -> None:
        """Cut up what has changed."""
        for source in [source for uri in [*self._visited] if (source := self.documents.get(uri)) is not None]:
            if not self._is_fresh(source):
                num_changes, lines = source.num_changes, source.lines[:MOST_LINES]
                self._cuts[source.uri] = _Cut(source, num_changes, await asyncio.to_thread(windows_of, lines))
        for uri in self._cuts.keys() - self._visited.keys():  # closed meanwhile
            del self._cuts[uri]

    def _begin_to_prepare(self) -> None:
        self._waiting = None
        if not self._tasks:
            task = asyncio.ensure_future(self.prepare())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()

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
        sources = self._sources(document)
        self._cut_a_little(sources)
        found = [best for source in sources if (best := self._best(source, around, near))]
        found.sort(key=lambda entry: -entry[0])
        return tuple(piece for _, piece in found[:MOST_FILES])

    def _sources(self, document: Document) -> Sequence[Document]:
        own = _file(document.uri)
        uris = [uri for uri in reversed(self._visited) if _file(uri) != own][:MOST_VISITED]
        sources = [source for uri in uris if (source := self.documents.get(uri)) is not None]
        return [source for source in sources if not self.why_off(source)]

    def _best(self, source: Document, around: frozenset[str], near: frozenset[str]) -> tuple[float, _Piece] | None:
        cut = self._cuts.get(source.uri)
        scored = [(_worth(window, around, near), window) for window in (cut.windows if cut is not None else ())]
        worth, window = max(scored, key=lambda entry: entry[0], default=(0.0, None))
        if window is None or worth < LEAST_LIKENESS:
            return None
        rows = [row for name, row in window.defined.items() if name in near]
        text = _text(source.lines, min(rows, default=window.row))
        return worth, _Piece(source=source, snippet=Snippet(path=path_of(source.uri).rpartition("/")[2], text=text))

    def _cut_a_little(self, sources: Sequence[Document]) -> None:
        """Small files are known at once."""
        left = MOST_LINES_AT_ONCE
        for source in sources:
            num_lines = min(len(source.lines), MOST_LINES)
            if num_lines <= left and not self._is_fresh(source):
                left -= num_lines
                self._cuts[source.uri] = _Cut(source, source.num_changes, windows_of(source.lines))

    def _is_fresh(self, source: Document) -> bool:
        cut = self._cuts.get(source.uri)
        return cut is not None and cut.is_of(source)


def _file(uri: str) -> str:
    """The cells of a notebook are one."""
    return uri.partition("#")[0]


def _worth(window: Window, around: frozenset[str], near: frozenset[str]) -> float:
    """How much of all names both have (Jaccard), and what a definition of a name near the cursor is worth besides."""
    num_shared = len(window.names & around)
    union = len(window.names) + len(around) - num_shared
    num_definitions = min(MOST_DEFINITIONS, sum(name in near for name in window.defined))
    return (num_shared / union if union else 0.0) + WORTH_OF_DEFINITION * num_definitions


def _text(lines: Sequence[str], row: int) -> str:
    """Whole lines from a row on, as many as the bounds allow."""
    text = ""
    for line in lines[row : row + WINDOW_LINES]:
        if len(text) + len(line) > MOST_CHARACTERS:
            break
        text += line
    return for_model(text).strip("\n")
