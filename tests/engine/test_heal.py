"""What a cursor cuts, and the constraint that mends it, held to trying everything."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from midfill_engine.heal import AffixConstraint, Healing, cut_healed, find_healing
from support.scripted_model import NULL, byte_codec
from support.vocabularies import pocket_codec, sentencepiece_codec


@pytest.mark.parametrize(
    ("prefix", "suffix", "left", "right"),
    [
        ("", "", "", ""),
        ("", "return", "", ""),
        ("retu", "", "retu", ""),
        ("retu", "rn x", "retu", "rn"),
        ("x = retu", "rn x", " retu", "rn"),
        ("return ", "x", " ", ""),
        ("a +", "= b", " +", "="),
        ("a =", " b", " =", ""),
        ("foo(", ")", "(", ")"),
        ("\n    ", "    x", "    ", "    "),
        ("\n\t", "x", "\t", ""),
        ("x\n", "y", "", ""),
        ("a", "1", "a", ""),
        ("x12", "34", "", ""),
        ("größ", "e", "größ", "e"),
        ("日", "本", "日", "本"),
        ("😀", "😀", "😀", "😀"),
        ("a" * 24, "", "a" * 24, ""),
        ("a" * 25, "b", "", ""),
        ("a" * 100_000, "b" * 100_000, "", ""),
        ("a", "b" * 25, "a", ""),
        ("x\ud800", "\udc00y", "", ""),
        ("a\r", "\nb", "", ""),
    ],
)
def test_what_the_cursor_cuts(prefix: str, suffix: str, left: str, right: str) -> None:
    assert find_healing(prefix, suffix) == Healing(left=left, right=right)


@given(prefix=st.text(max_size=40), suffix=st.text(max_size=40))
def test_what_is_healed_is_given_text_that_can_be_encoded(prefix: str, suffix: str) -> None:
    healing = find_healing(prefix, suffix)
    assert prefix.endswith(healing.left)
    assert suffix.startswith(healing.right)
    assert "\n" not in healing.left + healing.right
    (healing.left + healing.right).encode()


LEFTS = st.sampled_from(["", "r", "re", " retu", "    ", "(", "é", "☃", "日本", "a" * 5])
RIGHTS = st.sampled_from(["", "n", "rn", ")", "é", "☃"])


def read(row: torch.Tensor, codec, null: int | None) -> bytes:
    """What the argmax of logits [M, V] says, up to the first null."""
    ids = row.argmax(-1).tolist()
    return codec.bytes_of(ids[: ids.index(null)] if null in ids else ids)


def fewest(text: bytes, codec, *, is_left: bool, most: int) -> int | None:
    """By trying: the fewest tokens (up to `most`) of which `text` is the beginning, or the ending."""
    if not text:
        return 0
    pieces = [piece for piece in codec.token_bytes if piece]
    if not is_left:
        text, pieces = text[::-1], [piece[::-1] for piece in pieces]
    reached = {0}
    for num in range(1, most + 1):
        if any(piece.startswith(text[at:]) for at in reached for piece in pieces):
            return num
        reached = {at + len(piece) for at in reached for piece in pieces if text.startswith(piece, at)}
    return None


@settings(max_examples=120, deadline=None)
@given(left=LEFTS, right=RIGHTS, num_slots=st.integers(1, 7), seed=st.integers(0, 10**6), has_null=st.booleans())
def test_the_text_begins_and_ends_as_it_must_wherever_the_slots_suffice(
    left: str, right: str, num_slots: int, seed: int, has_null: bool
) -> None:
    """Faults it found: a single slot took `re` of `retu`; a null in the first free slot cut the right end away."""
    codec = sentencepiece_codec()
    null = 0 if has_null else None
    logits = torch.randn(2, num_slots, codec.num_tokens, generator=torch.Generator().manual_seed(seed))
    logits[:, :, 0] += 4.0 if has_null else float("-inf")
    logits[:, :, 1] = float("-inf")  # <eos>, banned as the filler bans it
    before = logits.clone()
    settled = AffixConstraint(Healing(left=left, right=right), codec, null).apply(logits)
    assert bool(torch.isfinite(settled).any(-1).all()), "a slot has no option left"
    needs = [
        fewest(left.encode(), codec, is_left=True, most=num_slots),
        fewest(right.encode(), codec, is_left=False, most=num_slots),
    ]
    if any(need is None for need in needs) or sum(need or 0 for need in needs) > num_slots:
        assert torch.equal(settled, before), "nothing is taken away where nothing can be had"
        return
    for row in settled:
        assert read(row, codec, null).startswith(left.encode())
        assert read(row, codec, null).endswith(right.encode())


def test_the_likeliest_text_that_fits_is_read() -> None:
    """Two slots of four tokens: what is read is the best of all that begins right, chosen slot by slot."""
    codec = sentencepiece_codec()
    ids = {piece: i for i, piece in enumerate(codec.token_bytes)}
    options = [ids[b"re"], ids[b"retu"], ids[b"return"], ids[b"x"]]
    for seed in range(20):
        logits = torch.full((1, 2, codec.num_tokens), float("-inf"))
        scores = torch.randn(2, 4, generator=torch.Generator().manual_seed(seed))
        for slot, choice in product(range(2), range(4)):
            logits[0, slot, options[choice]] = scores[slot, choice]
        first = max((0, 1, 2), key=lambda choice: float(scores[0, choice]))
        second = max(range(4), key=lambda choice: float(scores[1, choice]))
        AffixConstraint(Healing(left="re"), codec, None).apply(logits)
        assert logits[0].argmax(-1).tolist() == [options[first], options[second]]


def test_what_is_free_is_left_alone() -> None:
    codec = byte_codec()
    logits = torch.randn(1, 5, codec.num_tokens, generator=torch.Generator().manual_seed(3))
    before = logits.clone()
    AffixConstraint(Healing(left="ab"), codec, NULL).apply(logits)
    assert torch.equal(logits[:, 2:], before[:, 2:])


def test_the_models_own_end_is_kept_where_the_right_edge_has_room() -> None:
    codec = byte_codec()
    logits = torch.randn(1, 6, codec.num_tokens, generator=torch.Generator().manual_seed(4))
    logits[0, 4, NULL] = 9.0
    AffixConstraint(Healing(left="a", right="z"), codec, NULL).apply(logits)
    assert len(read(logits[0], codec, NULL)) == 4


def test_a_real_vocabulary_heals_a_word_into_one_token() -> None:
    codec = pocket_codec()
    logits = torch.zeros(1, 3, codec.num_tokens)
    whole = codec.ids(" return")
    assert len(whole) == 1
    logits[0, 0, whole[0]] = 5.0
    AffixConstraint(find_healing("x = retu", ""), codec, 3).apply(logits)
    assert logits[0, 0].argmax() == whole[0]


@pytest.mark.parametrize(
    ("text", "left", "right", "expected"),
    [
        ("return x", "retu", "", "rn x"),
        ("return", "retu", "rn", ""),
        ("retn", "retu", "rn", None),
        ("abc", "ab", "bc", None),
        ("abbc", "ab", "bc", ""),
        ("xreturn", "retu", "", None),
        ("", "a", "", None),
        ("anything", "", "", "anything"),
    ],
)
def test_what_was_given_is_cut_off_again(text: str, left: str, right: str, expected: str | None) -> None:
    assert cut_healed(text, Healing(left=left, right=right)) == expected
