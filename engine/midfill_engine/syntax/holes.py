"""Places in a text that wait to be written, found by syntax.

A pattern finds what may be a hole, the tree says whether it is one: so the cost is that of the parse and of the few
candidates, however long the text. `hole_rules` says what is right as it is. Of a text longer than the window only what
is near `around` is looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from tree_sitter import Node

from midfill_engine.syntax.hole_rules import is_abstract, is_empty_body, is_placeholder_body
from midfill_engine.syntax.source import MOST_CHARACTERS, Source, ancestors, faults, parse, window_around


class HoleKind(StrEnum):
    """What stands there. `empty`: a body without a statement. `error`: what does not parse."""

    MARKER = "marker"
    PASS = "pass"
    ELLIPSIS = "ellipsis"
    TODO = "todo"
    UNIMPLEMENTED = "unimplemented"
    EMPTY = "empty"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True)
class Hole:
    """The text from `start` to `end`, in code points, gives way to `before` + the middle + `after`.

    `before` and `after` are line ends and indentation that an empty body lacks; the model reads them, too.
    `start` and `end` are the same where nothing stands that could be replaced.
    """

    kind: HoleKind
    start: int
    end: int
    before: str = ""
    after: str = ""

    def around(self, text: str) -> tuple[str, str]:
        """What stands before and after the middle."""
        return text[: self.start] + self.before, self.after + text[self.end :]


MARKERS = ("▮", "<FILL>", "<|fill|>")
"""What `midfill fill --marker` is usually given."""

_MARKER = re.compile("|".join(map(re.escape, MARKERS)))
_PASS = re.compile(r"\bpass\b")
_ELLIPSIS = re.compile(r"(?<!\.)\.\.\.(?!\.)")
_TODO = re.compile(r"^[ \t]*(?:#|//|--|;+|/\*|%)[^\n]*\b(?:TODO|FIXME)\b", re.MULTILINE)
_UNIMPLEMENTED = re.compile(
    r"\b(?:raise|throw|panic|fatalError)\b[^\n;]*?(?i:not[ _]?implemented|unimplemented|\btodo\b)"
    r"|\b(?:todo|unimplemented)!|\bTODO\(|(?<!\S)\?\?\?"
)
_BRACES = re.compile(r"\{\s*\}")
_OPEN_LINE = re.compile(r":[ \t]*(?:\r?\n[ \t]*)*(?=\r?\n|\Z)")
_OPEN_ASSIGNMENT = re.compile(r"(?<![=!<>:])=[ \t]*(?=\r?$)", re.MULTILINE)
_ENDS = re.compile(r"[;,:)\]}]+")
_NOT_CODE = ("comment", "string", "char_literal", "regex", "template")
_STATEMENTS = frozenset(["expression_statement", "raise_statement", "throw_statement", "throw_expression"])
_CALLS = frozenset(["call", "call_expression", "macro_invocation", "operator_identifier", "identifier"])
_WANTS_MORE = re.compile(r"(?:[=(\[,+\-*/%&|<>.]|=>|\b(?:return|and|or|not|in|await|new))[ \t]*\Z")


def find_holes(text: str, language: str, around: int | None = None, is_stub: bool = False) -> tuple[Hole, ...]:
    """The holes of a text, from the first to the last; none overlaps another.

    `around`: an offset; of a long text only its neighbourhood is looked at (None: the beginning). `is_stub`: a file
    such as `.pyi`, in which `...` is right.
    """
    window = window_around(text, around or 0) if len(text) > MOST_CHARACTERS else None
    source = parse(text, language, window)
    if source is None:
        return ()
    finders = _FINDERS if window is None else _FINDERS_IN_PART
    found = [hole for find in finders for hole in find(source) if not (is_stub and hole.kind in _RIGHT_IN_STUBS)]
    cut = window.end if window is not None and window.end < len(text) else len(text) + 2
    return tuple(_apart([hole for hole in found if hole.end < cut - 1]))


def _apart(found: list[Hole]) -> Iterator[Hole]:
    """In order of place; of two in one place the first found is kept, for the finders go from sure to unsure."""
    taken: list[Hole] = []
    for hole in found:
        if all(hole.end < other.start or other.end < hole.start for other in taken):
            taken.append(hole)
    return iter(sorted(taken, key=lambda hole: hole.start))


def _markers(source: Source) -> Iterator[Hole]:
    for match in _MARKER.finditer(source.text):
        yield Hole(kind=HoleKind.MARKER, start=source.start + match.start(), end=source.start + match.end())


def _passes(source: Source) -> Iterator[Hole]:
    for node in _nodes(source, _PASS):
        statement = node if node.type == "pass_statement" else node.parent
        if statement is not None and statement.type == "pass_statement" and is_placeholder_body(statement):
            yield _hole(source, HoleKind.PASS, statement)


def _ellipses(source: Source) -> Iterator[Hole]:
    for node in _nodes(source, _ELLIPSIS):
        statement = node.parent if node.parent is not None and node.parent.type == "expression_statement" else node
        owner = statement.parent.parent if statement.parent is not None else None
        is_function = owner is not None and owner.type == "function_definition"
        if node.type == "ellipsis" and is_function and is_placeholder_body(statement):
            yield _hole(source, HoleKind.ELLIPSIS, statement)


def _unimplemented(source: Source) -> Iterator[Hole]:
    for node in _nodes(source, _UNIMPLEMENTED):
        whole = _whole(node)
        if whole is not None and not is_abstract(whole):
            yield _hole(source, HoleKind.UNIMPLEMENTED, whole)


def _whole(node: Node) -> Node | None:
    """The statement, or else the call, that a word is the beginning of."""
    best = None
    for outer in ancestors(node):
        if outer.start_byte != node.start_byte:
            break
        if outer.type in _STATEMENTS or (best is None and outer.type in _CALLS and outer.type != "identifier"):
            best = outer
    return best


def _empty_braces(source: Source) -> Iterator[Hole]:
    for match in _BRACES.finditer(source.text):
        start, end = source.start + match.start(), source.start + match.end()
        node = source.node_at(start, end)
        body = next((one for one in ancestors(node) if source.offset_of(one.start_byte) == start), node)
        if source.offset_of(body.end_byte) == end and any(map(is_empty_body, _same_place(body))):
            yield _opened(source, start + 1, end - 1, is_braced=True)


def _same_place(node: Node) -> Iterator[Node]:
    """The node and those around it that begin and end where it does."""
    for outer in ancestors(node):
        if (outer.start_byte, outer.end_byte) != (node.start_byte, node.end_byte):
            return
        yield outer


def _missing_bodies(source: Source) -> Iterator[Hole]:
    """Headers of Python that no body follows."""
    if source.root.type != "module":
        return
    for match in _OPEN_LINE.finditer(source.text):
        colon = source.node_at(source.start + match.start(), source.start + match.start() + 1)
        if colon.type != ":" or colon.parent is None:
            continue
        header = source.offset_of(colon.parent.start_byte) - source.start
        line = source.text[source.text.rfind("\n", 0, header) + 1 : match.start()]
        following = _next_line(source.text, match.end())
        if line.count("(") <= line.count(")") and len(_lead(following)) <= len(_lead(line)):
            start = source.start + match.start() + 1
            yield _opened(source, start, source.start + match.end(), is_braced=False)


def _next_line(text: str, offset: int) -> str:
    """The next line that is not blank."""
    start = offset
    while start < len(text) and not text[start : _line_end(text, start)].strip():
        start = _line_end(text, start) + 1
    return text[start : _line_end(text, start)]


def _todos(source: Source) -> Iterator[Hole]:
    """Comments that say what is to be done, if nothing is done below: what follows is a blank line or the block's end.

    A comment over code is about that code and no hole. The comment stays: it says what to write.
    """
    for match in _TODO.finditer(source.text):
        line_end = _comment_end(source.text, match.end())
        indent = _lead(match[0])
        node = source.node_at(source.start + match.end() - 1, source.start + match.end())
        following = source.text[line_end + 1 : _line_end(source.text, line_end + 1)]
        is_about_code = following.strip() and len(_lead(following)) >= len(indent) and following.strip()[0] not in ")]}"
        if "comment" in node.type and not is_about_code:
            at = source.start + line_end
            yield Hole(kind=HoleKind.TODO, start=at, end=at, before="\n" + indent)


def _comment_end(text: str, offset: int) -> int:
    """Where the last line of a comment ends that goes on over several lines, each begun by the same sign."""
    end = _line_end(text, offset)
    sign = text[text.rfind("\n", 0, offset) + 1 :].lstrip()[:2].strip()
    while end < len(text) and text[end + 1 : _line_end(text, end + 1)].lstrip().startswith(sign):
        end = _line_end(text, end + 1)
    return end


def _open_assignments(source: Source) -> Iterator[Hole]:
    """`x =` and the line ends: the grammar of Python goes on to the next line, Python does not."""
    if source.root.type != "module":
        return
    for match in _OPEN_ASSIGNMENT.finditer(source.text):
        node = source.node_at(source.start + match.start(), source.start + match.start() + 1)
        if node.type == "=" and node.parent is not None and node.parent.type in ("assignment", "ERROR"):
            yield Hole(kind=HoleKind.ERROR, start=source.start + match.end(), end=source.start + match.end())


def _errors(source: Source) -> Iterator[Hole]:
    """Where something is missing, after what wants more or where the parser says; else what makes no sense."""
    for node in faults(source.root):
        start, end = source.offset_of(node.start_byte), source.offset_of(node.end_byte)
        at = _where_more_is_wanted(source, start, end)
        if at is None and (node.is_missing or _ENDS.fullmatch(source.text[start - source.start : end - source.start])):
            at = start
        if at is not None:
            yield Hole(kind=HoleKind.ERROR, start=at, end=at)
        elif node.is_error and "\n" not in source.text[start - source.start : end - source.start]:
            yield Hole(kind=HoleKind.ERROR, start=start, end=end)


def _where_more_is_wanted(source: Source, start: int, end: int) -> int | None:
    """Behind what does not parse, or at the end of its first line, if that ends in an operator or the like."""
    first, last = start - source.start, end - source.start
    line_end = _line_end(source.text, first)
    for stop in (min(last, line_end), line_end):
        if _WANTS_MORE.search(source.text[first:stop]):
            spaces = len(source.text[stop:line_end]) - len(source.text[stop:line_end].lstrip(" "))
            return source.start + stop + spaces
    return None


def _hole(source: Source, kind: HoleKind, node: Node) -> Hole:
    return Hole(kind=kind, start=source.offset_of(node.start_byte), end=source.offset_of(node.end_byte))


def _opened(source: Source, start: int, end: int, is_braced: bool) -> Hole:
    """A body that gets lines of its own, one level deeper than the line that opens it."""
    line = source.text[source.text.rfind("\n", 0, start - source.start) + 1 : start - source.start]
    indent, newline = _lead(line), "\r\n" if "\r\n" in source.text[:4096] else "\n"
    after = newline + indent if is_braced else ""
    before = newline + indent + indent_unit(source.text)
    return Hole(kind=HoleKind.EMPTY, start=start, end=end, before=before, after=after)


def indent_unit(text: str) -> str:
    """What one level is indented by in a text: a tab, or the commonest step between lines."""
    leads = [_lead(line) for line in text[:100_000].split("\n") if line.strip()]
    if sum(lead.startswith("\t") for lead in leads) > sum(lead.startswith(" ") for lead in leads):
        return "\t"
    steps = Counter(len(low) - len(high) for high, low in pairwise(leads) if len(low) > len(high))
    return " " * steps.most_common(1)[0][0] if steps else "    "


def _nodes(source: Source, pattern: re.Pattern[str]) -> Iterator[Node]:
    """The code that begins where a pattern does."""
    for match in pattern.finditer(source.text):
        start = source.start + match.start()
        node = source.node_at(start, start + 1)
        if not any(word in node.type for word in _NOT_CODE):
            yield node


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end


def _lead(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


_SURE = (_markers, _passes, _ellipses, _unimplemented, _empty_braces, _missing_bodies)
_FINDERS = (*_SURE, _todos, _open_assignments, _errors)
_FINDERS_IN_PART = (*_SURE, _todos)
"""What does not parse in a part of a text may well parse in the whole."""
_RIGHT_IN_STUBS = frozenset([HoleKind.PASS, HoleKind.ELLIPSIS, HoleKind.EMPTY])
