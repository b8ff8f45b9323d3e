"""Between text and token ids, byte for byte.

A token is a run of bytes, not of characters: a middle may end inside a character, and a hole may begin inside a token.
So everything that cuts or joins tokens here works on bytes, and text is decoded once at the end.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from itertools import takewhile

from tokenizers import Tokenizer

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


class TokenCodec:
    """A tokenizer's vocabulary as bytes. `special`: ids that stand for no text, and that no text is encoded to."""

    def __init__(self, tokenizer: Tokenizer, special: frozenset[int]) -> None:
        # A file may well hold the characters `<eos>`; they are text, and must not end or steer anything.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self.special = special
        self._is_byte_level = type(tokenizer.decoder).__name__ == "ByteLevel"
        self._pieces: dict[int, str] = {i: piece for piece, i in tokenizer.get_vocab(with_added_tokens=True).items()}
        self.num_tokens = max(self._pieces) + 1  # a vocabulary may have gaps

    def ids(self, text: str) -> list[int]:
        """Token ids of `text`, without any special token. A lone surrogate, which is no text, counts as `?`."""
        clean = text if text.isascii() else text.encode(errors="replace").decode()
        return [i for i in self._tokenizer.encode(clean, add_special_tokens=False).ids if i not in self.special]

    @cached_property
    def textless(self) -> frozenset[int]:
        """Ids that stand for no text: special ones and gaps in the vocabulary."""
        return frozenset(i for i, piece in enumerate(self.token_bytes) if not piece)

    @cached_property
    def token_bytes(self) -> list[bytes]:
        """What each id stands for; nothing for a special one."""
        return [
            b"" if i in self.special or i not in self._pieces else self._piece_bytes(self._pieces[i])
            for i in range(self.num_tokens)
        ]

    def bytes_of(self, ids: list[int]) -> bytes:
        return b"".join(self.token_bytes[i] for i in ids)

    def text_of(self, ids: list[int]) -> str:
        """The text of `ids` up to the first byte that makes no character (a draft may end inside one)."""
        return decode_whole(self.bytes_of(ids))

    @cached_property
    def _sorted(self) -> list[tuple[bytes, int]]:
        return sorted((piece, i) for i, piece in enumerate(self.token_bytes) if piece)

    @cached_property
    def _sorted_reversed(self) -> list[tuple[bytes, int]]:
        return sorted((piece[::-1], i) for i, piece in enumerate(self.token_bytes) if piece)

    def beginning_with(self, start: bytes) -> list[int]:
        """Ids whose bytes begin with `start`."""
        return _in_range(self._sorted, start)

    def ending_with(self, end: bytes) -> list[int]:
        """Ids whose bytes end with `end`."""
        return _in_range(self._sorted_reversed, end[::-1])

    def beginnings_of(self, text: bytes) -> list[int]:
        """Ids whose bytes are a true beginning of `text`."""
        return [i for n in range(1, len(text)) for i in _exactly(self._sorted, text[:n])]

    def endings_of(self, text: bytes) -> list[int]:
        """Ids whose bytes are a true ending of `text`."""
        return [i for n in range(1, len(text)) for i in _exactly(self._sorted_reversed, text[-n:][::-1])]

    def _piece_bytes(self, piece: str) -> bytes:
        if self._is_byte_level:
            return (
                bytes(_BYTE_OF[char] for char in piece) if all(char in _BYTE_OF for char in piece) else piece.encode()
            )
        byte = _BYTE_TOKEN.fullmatch(piece)
        return bytes([int(byte[1], 16)]) if byte else piece.replace("▁", " ").encode()


def decode_whole(raw: bytes) -> str:
    """`raw` as text, up to the first byte that makes no character."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        return raw[: error.start].decode()


def _in_range(pieces: list[tuple[bytes, int]], start: bytes) -> list[int]:
    """Ids of the pieces that begin with `start`, which stand together in the sorted list."""
    first = bisect_left(pieces, (start, -1))
    following = (pieces[at] for at in range(first, len(pieces)))
    return [i for _, i in takewhile(lambda entry: entry[0].startswith(start), following)]


def _exactly(pieces: list[tuple[bytes, int]], wanted: bytes) -> list[int]:
    first = bisect_left(pieces, (wanted, -1))
    following = (pieces[at] for at in range(first, len(pieces)))
    return [i for _, i in takewhile(lambda entry: entry[0] == wanted, following)]


def _byte_alphabet() -> dict[str, int]:
    """GPT-2's alphabet: a printable character for each byte."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}


_BYTE_OF = _byte_alphabet()
