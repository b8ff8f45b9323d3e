"""Training the tokenizer: byte-level BPE whose pre-tokens never cross a line end.

An indent is one pre-token and digits stand alone, so that a line's tokens do not depend on the lines around it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIAL = ("<pad>", "<eos>", "<bos>", "<null>", "<file>", *(f"<reserved{number}>" for number in range(11)))
PATTERN = r"\n+|\r+|\t+| {2,}| ?[\p{L}\p{M}_]+| ?\p{N}| ?[^\s\p{L}\p{M}\p{N}_]+|\s"
SAMPLE = 40_000_000  # characters it is trained on


def train_tokenizer(texts: Sequence[str], vocabulary: int) -> Tokenizer:
    """A tokenizer of `vocabulary` entries from a seeded sample of the texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_sample(texts), trainer)
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """Write it as transformers loads it."""
    from transformers import PreTrainedTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        bos_token="<bos>",
        clean_up_tokenization_spaces=False,
    )
    fast.save_pretrained(folder)


def _sample(texts: Sequence[str]) -> list[str]:
    order = list(range(len(texts)))
    random.Random(1).shuffle(order)
    sample, size = [], 0
    for index in order:
        sample.append(texts[index])
        size += len(texts[index])
        if size > SAMPLE:
            break
    return sample
