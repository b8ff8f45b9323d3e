"""The texts of the open documents, as the client has them.

Texts are kept as lists of lines, so that a keystroke in a file of megabytes touches the lines it changes and no other.
Lines end at \\n, \\r\\n and \\r and at nothing else: what `str.splitlines` adds to that (form feed, U+2028, U+0085 and
more) would put us out of step with every client. Nothing is ever read from disk: a document that is not open has no
text here, and only schemes that stand for documents of a user are let in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urlsplit

from midfill_server.positions import Encoding, Point, locate
from midfill_server.secret_text import SecretMark

SCHEMES = frozenset({"file", "untitled", "vscode-notebook-cell", "vscode-remote"})
"""Schemes of documents that are edited by people; output panels, diffs and commit boxes have others."""

LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class Span:
    """A range in the client's units."""

    start_line: int
    start_character: int
    end_line: int
    end_character: int


@dataclass(frozen=True)
class Edit:
    """One content change: `span` None replaces the whole text."""

    text: str
    span: Span | None = None


@dataclass(frozen=True)
class Change:
    """What an edit did, in code points: the text from `start` to `end` was replaced by one that ends at `new_end`."""

    start: Point
    end: Point
    new_end: Point


def split_lines(text: str) -> list[str]:
    """The lines of a text, each with its end but the last, which has none and may be empty."""
    if "\r" not in text:
        bodies = text.split("\n")
        last = bodies.pop()
        return [body + "\n" for body in bodies] + [last]
    ends = [0, *(match.end() for match in LINE_END.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


class Document:
    """An open document. `version` is the client's, None where it sends none.

    `around`: the lines before and after the document's own in a larger text that it is part of, each with its end.
    `kept_out`: why it is not for a model, see `ignored`.
    """

    def __init__(self, uri: str, language: str, version: int | None, text: str) -> None:
        self.uri = uri
        self.language = language
        self.version = version
        self.lines = split_lines(text)
        self.num_characters = len(text)
        self.has_secret = SecretMark(self.lines)
        self.num_changes = 0
        self.kept_out = ""
        self.around: Callable[[Document], tuple[list[str], list[str]]] = nothing_around

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def apply(self, edits: Iterable[Edit], version: int | None, encoding: Encoding) -> list[Change]:
        """Apply changes in their order; each one's span refers to the text after the one before. What they did."""
        changes = [self._marked(self._apply(edit, encoding)) for edit in edits]
        self.version = version
        self.num_changes += 1
        return changes

    def _marked(self, change: Change) -> Change:
        """The same, once the lines it touched have been looked at; one before may have been joined by a bare \\r."""
        self.has_secret.update(self.lines, max(change.start.row - 1, 0), change.new_end.row + 1)
        return change

    def _apply(self, edit: Edit, encoding: Encoding) -> Change:
        if edit.span is not None:
            return self._replace(edit.span, edit.text, encoding)
        old, self.lines = self.lines, split_lines(edit.text)
        self.num_characters = len(edit.text)
        return Change(Point(0, 0), end_of(old), end_of(self.lines))

    def _replace(self, span: Span, text: str, encoding: Encoding) -> Change:
        first = locate(self.lines, span.start_line, span.start_character, encoding)
        second = locate(self.lines, span.end_line, span.end_character, encoding)
        first, end = min(first, second), max(first, second)
        start = self._before_bare_return(first)
        touched = self.lines[start.row][: start.column] + text + self.lines[end.row][end.column :]
        fresh = split_lines(touched)
        if fresh[-1] == "" and end.row < len(self.lines) - 1:
            fresh.pop()  # the text after the touched lines is in the list already
        self.num_characters += sum(map(len, fresh)) - sum(map(len, self.lines[start.row : end.row + 1]))
        self.lines[start.row : end.row + 1] = fresh
        return Change(first, end, after(first, text))

    def _before_bare_return(self, start: Point) -> Point:
        """Take in a preceding line that ends with a bare \\r: a \\n that comes after it becomes part of its end."""
        if start.column == 0 and start.row > 0 and self.lines[start.row - 1].endswith("\r"):
            return Point(start.row - 1, len(self.lines[start.row - 1]))
        return start


def nothing_around(_document: Document) -> tuple[list[str], list[str]]:
    """A document that is part of no larger text."""
    return [], []


def end_of(lines: list[str]) -> Point:
    """Where a text ends."""
    return Point(len(lines) - 1, len(lines[-1]))


def after(start: Point, text: str) -> Point:
    """Where a text ends that begins at `start`."""
    lines = split_lines(text)
    return Point(start.row + len(lines) - 1, len(lines[-1]) + (start.column if len(lines) == 1 else 0))


class DocumentStore:
    """The open documents of one client."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents.values())

    def open(self, uri: str, language: str, version: int | None, text: str) -> Document | None:
        """Keep a document, in place of one with the same uri; None if its scheme is not served."""
        if scheme_of(uri) not in SCHEMES:
            return None
        document = self._documents[uri] = Document(uri, language, version, text)
        return document

    def get(self, uri: str) -> Document | None:
        """The open document of that uri."""
        return self._documents.get(uri)

    def lines_of(self, uri: str) -> list[str] | None:
        """The lines of an open document."""
        document = self._documents.get(uri)
        return None if document is None else document.lines

    def close(self, uri: str) -> None:
        """Forget a document; nothing happens if it is not open."""
        self._documents.pop(uri, None)


def scheme_of(uri: str) -> str:
    """The scheme in small letters; nothing for what is no uri."""
    try:
        return urlsplit(uri).scheme.lower()
    except ValueError:
        return ""
