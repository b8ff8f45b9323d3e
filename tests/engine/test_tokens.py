"""Tokens as bytes, held to the text itself and to looking through the whole vocabulary."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midfill_engine.tokens import TokenCodec, decode_whole
from support.scripted_model import FIRST, byte_codec
from support.vocabularies import pocket_codec, sentencepiece_codec

CODECS = [pytest.param(pocket_codec, id="byte-level"), pytest.param(sentencepiece_codec, id="byte-fallback")]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
CODE = st.text(st.sampled_from("ab_ x=()[]{}:.\n\t\r'\"é日😀▁<>0"), max_size=80)


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "\r\n", "\0", "\ufeff", "😀", "👩‍👧", "e\u0301", "日本", "\t\t x", "a\u2028b"]
)
@pytest.mark.parametrize("codec", CODECS)
def test_ids_stand_for_the_bytes_of_the_text(codec, text: str) -> None:
    assert codec().bytes_of(codec().ids(text)) == text.encode()


@given(text=st.one_of(TEXTS, CODE))
def test_ids_of_any_text_stand_for_its_bytes(text: str) -> None:
    codec = pocket_codec()
    ids = codec.ids(text)
    assert codec.bytes_of(ids) == text.encode()
    assert codec.text_of(ids) == text


@given(text=st.one_of(TEXTS, CODE))
def test_a_sentencepiece_vocabulary_does_too(text: str) -> None:
    """`▁` is how such a vocabulary spells a blank, so it cannot be told from one: the one thing it loses."""
    codec = sentencepiece_codec()
    assert codec.bytes_of(codec.ids(text)) == text.replace("▁", " ").encode()


@pytest.mark.parametrize("codec", CODECS)
def test_text_that_spells_a_special_token_is_text(codec) -> None:
    """A file about tokenizers held `<eos>`; encoded as the special token it ended the prompt in its middle."""
    for text in ("a <pad> b", "<eos>", "x = '<null><pad><file>'"):
        ids = codec().ids(text)
        assert not set(ids) & codec().special
        assert codec().text_of(ids) == text


@pytest.mark.parametrize("text", ["\ud800", "a\udc00b", "😀\ud83d"])
@pytest.mark.parametrize("codec", CODECS)
def test_a_lone_surrogate_is_a_question_mark(codec, text: str) -> None:
    """A client cut an emoji in its middle; the tokenizer's TypeError ended the request."""
    assert codec().text_of(codec().ids(text)) == text.encode(errors="replace").decode()


@pytest.mark.parametrize("text", ["é", "日本語", "a😀b", "👩‍👧 ok", "\U0010ffff"])
def test_decode_whole_at_every_cut(text: str) -> None:
    raw = text.encode()
    for cut in range(len(raw) + 1):
        whole = decode_whole(raw[:cut])
        assert text.startswith(whole)
        assert len(whole) == max(n for n in range(len(text) + 1) if len(text[:n].encode()) <= cut)


@given(raw=st.binary(max_size=12))
def test_decode_whole_stops_at_what_is_no_text(raw: bytes) -> None:
    whole = decode_whole(raw).encode()
    assert raw.startswith(whole)
    with_more = next(
        (raw[:n] for n in range(len(whole) + 1, min(len(whole) + 5, len(raw) + 1)) if _is_text(raw[:n])), None
    )
    assert with_more is None


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    "text", ["r", "re", "retu", " return", "(", "    ", "\n", "=", "é", "日", "self", "☃", "zzqj", "\t", "):"]
)
def test_ids_by_their_bytes_against_the_whole_vocabulary(codec, text: str) -> None:
    used: TokenCodec = codec()
    raw = text.encode()
    pieces = [(i, piece) for i, piece in enumerate(used.token_bytes) if piece]
    beginnings, endings = ([raw[:n] for n in range(1, len(raw))], [raw[-n:] for n in range(1, len(raw))])
    assert sorted(used.beginning_with(raw)) == [i for i, piece in pieces if piece.startswith(raw)]
    assert sorted(used.ending_with(raw)) == [i for i, piece in pieces if piece.endswith(raw)]
    assert sorted(used.beginnings_of(raw)) == [i for i, piece in pieces if piece in beginnings]
    assert sorted(used.endings_of(raw)) == [i for i, piece in pieces if piece in endings]


@settings(max_examples=30)
@given(raw=st.binary(min_size=1, max_size=4))
def test_ids_by_any_bytes_against_the_whole_vocabulary(raw: bytes) -> None:
    codec = sentencepiece_codec()
    pieces = [(i, piece) for i, piece in enumerate(codec.token_bytes) if piece]
    assert sorted(codec.beginning_with(raw)) == [i for i, piece in pieces if piece.startswith(raw)]
    assert sorted(codec.endings_of(raw)) == [i for i, piece in pieces if raw.endswith(piece) and piece != raw]


@pytest.mark.parametrize("codec", CODECS)
def test_special_tokens_have_no_text(codec) -> None:
    used: TokenCodec = codec()
    assert used.special <= used.textless
    assert all(not used.token_bytes[i] for i in used.textless)
    assert used.text_of(sorted(used.special)) == ""


def test_the_test_vocabulary_of_bytes_is_one() -> None:
    codec = byte_codec()
    assert codec.token_bytes[FIRST:] == [bytes([byte]) for byte in range(256)]
