"""What is frozen for a request: bounded, and with a beginning that stays while somebody types."""

from __future__ import annotations

from midfill_server.documents import Document, Edit, Span
from midfill_server.positions import Encoding
from midfill_server.snapshot import PREFIX_LIMIT, SUFFIX_LIMIT, take


def document(text: str) -> Document:
    return Document("file:///a.py", "python", 1, text)


def test_a_small_document_is_taken_whole() -> None:
    snapshot = take(document("a\nbc\nd"), 1, 1, Encoding.UTF16)
    assert (snapshot.prefix, snapshot.suffix) == ("a\nb", "c\nd")
    assert (snapshot.row, snapshot.column, snapshot.line, snapshot.version) == (1, 1, "bc", 1)
    assert not snapshot.is_suffix_cut


def test_the_empty_document() -> None:
    snapshot = take(document(""), 7, 7, Encoding.UTF8)
    assert (snapshot.prefix, snapshot.suffix, snapshot.row, snapshot.column) == ("", "", 0, 0)


def test_a_model_sees_plain_line_ends_and_no_lone_surrogates() -> None:
    """Row 6: the model is not asked about \\r; columns stay those of the document."""
    snapshot = take(document("a\r\nb\rc\ud800d|\r\n"), 2, 3, Encoding.UTF16)
    assert (snapshot.prefix, snapshot.suffix) == ("a\nb\nc\ufffdd", "|\n")
    assert (snapshot.column, snapshot.line) == (3, "c\ud800d|")


def test_a_huge_document_is_bounded() -> None:
    """Row 20 (continue#2202): each key lagged in large files."""
    snapshot = take(document("0123456789abcde\n" * 100_000), 50_000, 3, Encoding.UTF16)
    assert PREFIX_LIMIT * 0.9 < len(snapshot.prefix) <= PREFIX_LIMIT
    assert len(snapshot.suffix) == SUFFIX_LIMIT
    assert snapshot.is_suffix_cut
    assert snapshot.prefix.endswith("\n012")


def test_one_endless_line_is_bounded() -> None:
    snapshot = take(document("x" * 1_000_000), 0, 500_000, Encoding.UTF16)
    assert 0.9 * PREFIX_LIMIT < len(snapshot.prefix) <= PREFIX_LIMIT
    assert len(snapshot.suffix) == SUFFIX_LIMIT


def test_typing_keeps_the_beginning_of_the_prefix() -> None:
    """The engine's cache is worth what two prefixes have in common from their start."""
    text = document("0123456789abcde\n" * 10_000)
    starts = set()
    for column in range(40):
        text.apply([Edit("y", Span(8000, column, 8000, column))], column, Encoding.UTF16)
        snapshot = take(text, 8000, column + 1, Encoding.UTF16)
        starts.add(len(snapshot.prefix) - column)
    assert len(starts) == 1
