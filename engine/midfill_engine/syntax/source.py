"""A text and its tree. Outside of this package nobody sees a byte offset: here they become code points and back.

Parsing is bounded. Of a long text only a window is parsed, which begins and ends at a line where it can: what stands
further away does not decide what stands at a place. `spliced` parses again only what a middle changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node, Parser, Point, Tree

from midfill_engine.syntax.grammars import grammar

MOST_CHARACTERS = 200_000
HALF = MOST_CHARACTERS // 2


@dataclass(frozen=True, kw_only=True)
class Window:
    """The part of a text from `start` to `end`."""

    start: int
    end: int


def window_around(
    text: str, offset: int, before: int = MOST_CHARACTERS // 2, after: int = MOST_CHARACTERS // 2
) -> Window:
    """A part of the text around an offset, of whole lines unless they are too long for that."""
    start, end = max(0, offset - before), min(len(text), offset + after)
    if start:
        start = _at_line(text, start, offset)
    if end < len(text):
        line_end = text.rfind("\n", offset, end)
        end = line_end + 1 if line_end >= 0 else end
    return Window(start=start, end=end)


def _at_line(text: str, start: int, offset: int) -> int:
    """The first line from `start` on that is not indented; else any line; else `start` itself."""
    first = at = text.find("\n", start, offset) + 1
    while at:
        if text[at : at + 1].strip() and text[at] not in ")]}":
            return at
        at = text.find("\n", at, offset) + 1
    return first or start


@dataclass(frozen=True, kw_only=True)
class Source:
    """A text, or a window of it, and its tree. `start`: where the window begins in the text."""

    text: str
    data: bytes
    tree: Tree
    parser: Parser
    start: int = 0

    @property
    def root(self) -> Node:
        return self.tree.root_node

    def byte_of(self, offset: int) -> int:
        """From an offset in the whole text."""
        at = min(max(offset - self.start, 0), len(self.text))
        return at if self._is_ascii else len(_encoded(self.text[:at]))

    def offset_of(self, byte: int) -> int:
        """To an offset in the whole text."""
        return self.start + (byte if self._is_ascii else len(self.data[:byte].decode(errors="replace")))

    @property
    def _is_ascii(self) -> bool:
        return len(self.data) == len(self.text)

    def node_at(self, start: int, end: int) -> Node:
        """The smallest node that holds what is from `start` to `end`."""
        node = self.root.descendant_for_byte_range(self.byte_of(start), self.byte_of(end))
        return self.root if node is None else node

    def spliced(self, offset: int, middle: str, num_replaced: int = 0) -> Source:
        """The source with a middle put in."""
        at = offset - self.start
        text = self.text[:at] + middle + self.text[at + num_replaced :]
        return self._edited(text, at, at + num_replaced, at + len(middle))

    def _edited(self, text: str, start: int, old_end: int, new_end: int) -> Source:
        data = _encoded(text)
        tree = self.tree.copy()
        first, last, new = (len(_encoded(part)) for part in (text[:start], self.text[:old_end], text[:new_end]))
        tree.edit(first, last, new, _point(data, first), _point(self.data, last), _point(data, new))
        return Source(text=text, data=data, tree=self.parser.parse(data, tree), parser=self.parser, start=self.start)


def parse(text: str, language: str, window: Window | None = None) -> Source | None:
    """The tree of a text or of a window of it; None if there is no grammar for the language."""
    known = grammar(language)
    if known is None:
        return None
    start = 0
    if window is not None:
        start, text = window.start, text[window.start : window.end]
    parser, data = Parser(known), _encoded(text)
    return Source(text=text, data=data, tree=parser.parse(data), parser=parser, start=start)


def faults(root: Node) -> Iterator[Node]:
    """The nodes that say what does not parse, from the first to the last. Sound branches are not looked into."""
    stack = [root] if root.has_error else []
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            yield node
        stack.extend(child for child in reversed(node.children) if child.has_error or child.is_missing)


def ancestors(node: Node) -> Iterator[Node]:
    """The node, what it is in, and so on up to the root."""
    at: Node | None = node
    while at is not None:
        yield at
        at = at.parent


def _encoded(text: str) -> bytes:
    return text.encode(errors="replace")


def _point(data: bytes, byte: int) -> Point:
    return Point(data.count(b"\n", 0, byte), byte - (data.rfind(b"\n", 0, byte) + 1))
