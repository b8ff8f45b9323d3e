"""The document store against a flat string that is cut and joined anew for every edit."""

from __future__ import annotations

import random

import pytest

from midfill_server.documents import Change, Document, DocumentStore, Edit, Span, split_lines
from midfill_server.positions import Encoding, Point

WORDS = ["a", "word", " ", "\t", "é", "😀", "e\u0301", "中"]
ENDS = ["\n", "\n", "\r\n", "\r", "\x0c", "\u2028", "\u2029", "\x85", "\x1c", "\x0b"]
PIECES = WORDS + ENDS
KINDS = {
    "all kinds of line ends": PIECES,
    "returns only": [*WORDS, "\r", "\r"],
    "returns that become line ends": ["a", "\r", "\n", "\r\n"],
    "halves of characters": [*PIECES, "\ud83d", "\ude00", "\udc80"],
    "one long line": [*WORDS * 20, "\n"],
}
EDITS_PER_KIND = 2500


class FlatText:
    """The naive model: one string, every position found by walking from the start."""

    def __init__(self, text: str) -> None:
        self.text = text

    def offset(self, line: int, character: int, encoding: Encoding) -> int:
        offset = 0
        for _ in range(line):
            end = self._end_of_body(offset)
            offset = end + self._length_of_eol(end)
            if end == len(self.text):
                return len(self.text)
        end, walked = self._end_of_body(offset), 0
        while offset < end:
            walked += self._width(self.text[offset], encoding)
            if walked > character:
                break
            offset += 1
        return offset

    def replace(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]

    def _end_of_body(self, offset: int) -> int:
        while offset < len(self.text) and self.text[offset] not in "\r\n":
            offset += 1
        return offset

    def _length_of_eol(self, end: int) -> int:
        if self.text[end : end + 2] == "\r\n":
            return 2
        return 1 if end < len(self.text) else 0

    @staticmethod
    def _width(character: str, encoding: Encoding) -> int:
        if encoding is Encoding.UTF32:
            return 1
        codec = "utf-16-le" if encoding is Encoding.UTF16 else "utf-8"
        size = len(character.encode(codec, "surrogatepass"))
        return size // 2 if encoding is Encoding.UTF16 else size


def some_text(rng: random.Random, most: int, pieces: list[str] = PIECES) -> str:
    return "".join(rng.choices(pieces, k=rng.randint(0, most)))


def random_edit(rng: random.Random, flat: FlatText, encoding: Encoding, pieces: list[str] = PIECES) -> Edit:
    """An edit somewhere, sometimes past an end; the flat text is changed in the same way."""
    num_lines = flat.text.count("\n") + flat.text.count("\r") + 2
    farthest = rng.choice([3, 14, 14, 400])
    places = [(rng.randrange(num_lines), rng.randrange(farthest)) for _ in range(2)]
    if rng.random() < 0.4:
        places[1] = places[0]
    places.sort(key=lambda place: flat.offset(*place, encoding))
    (line, character), (end_line, end_character) = places
    text = some_text(rng, 4, pieces)
    flat.replace(flat.offset(line, character, encoding), flat.offset(end_line, end_character, encoding), text)
    return Edit(text, Span(line, character, end_line, end_character))


@pytest.mark.parametrize("encoding", list(Encoding))
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_random_edits_leave_equal_texts(encoding: Encoding, kind: str) -> None:
    """Row 8 (hermes-agent#45393): form feed, U+2028 and U+0085 desynchronised servers that use str.splitlines; and
    a \\n that comes to stand after a bare \\r joins with it to one line end."""
    rng, pieces = random.Random(kind), KINDS[kind]
    flat = FlatText(some_text(rng, 30, pieces))
    document = Document("file:///x", "python", 0, flat.text)
    for version in range(1, EDITS_PER_KIND):
        before = flat.text
        edits = [random_edit(rng, flat, encoding, pieces) for _ in range(rng.choice([1, 1, 1, 3]))]
        changes = document.apply(edits, version, encoding)
        assert document.text == flat.text, (before, edits)
        assert document.num_characters == len(flat.text)
        assert document.lines == split_lines(flat.text), (before, edits)
        assert document.version == version
        if len(edits) == 1:
            check_change(before, flat.text, changes[0], edits[0].text)
        if len(flat.text) > 300:
            flat.text = some_text(rng, 30, pieces)
            document.apply([Edit(flat.text)], version, encoding)


def check_change(before: str, after: str, change: Change, text: str) -> None:
    """What is said to have changed is all that has: the same before it, the same after it, the new text in it."""
    head, tail = offset_of(before, change.start), len(before) - offset_of(before, change.end)
    assert after == before[:head] + text + before[len(before) - tail :]
    if "\r" not in after:  # where a \r comes to stand before a \n, the new end is inside a line end
        assert offset_of(after, change.new_end) == head + len(text)


def offset_of(text: str, point: Point) -> int:
    return sum(map(len, split_lines(text)[: point.row])) + point.column


def test_several_changes_in_one_message_are_applied_in_order() -> None:
    document = Document("file:///x", "python", 1, "abc\n")
    document.apply([Edit("X", Span(0, 0, 0, 1)), Edit("\nY", Span(0, 3, 0, 3))], 2, Encoding.UTF16)
    assert (document.text, document.version) == ("Xbc\nY\n", 2)


def test_a_span_from_end_to_start_is_taken_as_start_to_end() -> None:
    """Row 15 (helix#9624): a range whose start is after its end crashed others."""
    document = Document("file:///x", "python", 1, "abcdef")
    document.apply([Edit("-", Span(0, 4, 0, 1))], 2, Encoding.UTF8)
    assert document.text == "a-ef"


def test_lines_end_only_at_line_ends() -> None:
    assert split_lines("a\x0cb\u2028c\x85d\r\ne\rf\n") == ["a\x0cb\u2028c\x85d\r\n", "e\r", "f\n", ""]
    assert split_lines("") == [""]
    assert split_lines("\r\n\n\r") == ["\r\n", "\n", "\r", ""]


def test_one_endless_line_is_split_in_one_pass() -> None:
    """A pattern for whole lines tried again from every character of a last line without a line end: quadratic."""
    text = "\r" + "x" * 1_000_000
    assert split_lines(text) == ["\r", text[1:]]


@pytest.mark.parametrize(
    ("uri", "is_served"),
    [
        ("file:///a.py", True),
        ("file:///c%3A/Users/x/a.py", True),
        ("file://", True),
        ("untitled:Untitled-1", True),
        ("vscode-notebook-cell:/a.ipynb#W0sZm", True),
        ("vscode-remote://ssh-remote+box/a.py", True),
        ("git:/etc/hostname?ref", False),
        ("output:extension-output", False),
        ("vscode-scm:git/scm0/input", False),
        ("", False),
        ("no uri", False),
        ("http://[", False),
    ],
)
def test_only_documents_of_people_are_served(uri: str, is_served: bool) -> None:
    """Row 22 and cody#1112: untitled texts must work, commit boxes and diffs must not."""
    store = DocumentStore()
    assert (store.open(uri, "python", 1, "x") is not None) is is_served
    assert (store.get(uri) is not None) is is_served


def test_nothing_is_read_from_disk() -> None:
    """Row 22: pygls read `untitled:/etc/hostname` from disk."""
    store = DocumentStore()
    assert store.get("file:///etc/hostname") is None
    assert store.get("untitled:/etc/hostname") is None


def test_an_unnamed_buffer_can_be_opened_again_under_the_same_uri() -> None:
    """Neovim gives every unnamed buffer the uri `file://`."""
    store = DocumentStore()
    store.open("file://", "python", 1, "one")
    store.open("file://", "python", 1, "two")
    document = store.get("file://")
    assert document is not None
    assert document.text == "two"
    store.close("file://")
    store.close("file://")
    assert len(store) == 0
