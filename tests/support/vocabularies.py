"""Tokenizers for tests: the shipped one, and a small one of the other kind."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from tokenizers import Tokenizer, decoders, models, normalizers
from transformers import PreTrainedTokenizerFast

from midfill_engine.tokens import TokenCodec

NUM_BYTES = 256


@cache
def pocket_codec() -> TokenCodec:
    """The shipped model's: BPE over bytes."""
    fast = PreTrainedTokenizerFast.from_pretrained(str(files("midfill_engine") / "pocket"), local_files_only=True)
    return TokenCodec(fast.backend_tokenizer, frozenset(range(16)))


@cache
def sentencepiece_codec() -> TokenCodec:
    """As Gemma's: BPE over characters with `▁` for a blank, bytes where a character is unknown, and a few words."""
    vocab = {"<pad>": 0, "<eos>": 1}
    vocab |= {f"<0x{byte:02X}>": 2 + byte for byte in range(NUM_BYTES)}
    merges: list[tuple[str, str]] = []
    for piece in [*"▁abcdefghijklmnopqrstuvwxyz():=.\n", "é", "日"]:
        vocab[piece] = len(vocab)
    for left, right in [("▁", "▁"), ("r", "e"), ("t", "u"), ("r", "n"), ("re", "tu"), ("retu", "rn"), ("▁", "return")]:
        vocab[left + right] = len(vocab)
        merges.append((left, right))
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, byte_fallback=True, fuse_unk=False))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens(["<pad>", "<eos>"])
    return TokenCodec(tokenizer, frozenset({0, 1}))
