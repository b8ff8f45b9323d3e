"""A BlockModel whose logits are scripted, so that the control flow around it is exact.

The vocabulary is bytes: id `FIRST + b` stands for byte b, and the ids below are special. A script says what stands in
the slots: `"ab<null>"`-like texts are written as lists of ids by `tokens_of`.

    model = ScriptedModel([canvas("return 1", end=True)])
    filler = Filler(preset_of(), loaded_of(model))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

from midfill_engine.denoise.loop import LastStep
from midfill_engine.models.base import BlockModel, Encoded
from midfill_engine.models.loading import Loaded
from midfill_engine.presets import Preset
from midfill_engine.tokens import TokenCodec

PAD, BOS, NULL, FILE = range(4)
FIRST = 4
VOCAB = FIRST + 256
SURE = 20.0  # a logit that leaves the others next to nothing

Script = list[int] | Callable[[int], list[int]]
"""What the slots of one canvas hold from left to right; or that as a function of the step (1-based)."""


def canvas(text: str, *, end: bool = False) -> list[int]:
    """Ids of a text's bytes, with a null behind them if the middle ends there."""
    return [FIRST + byte for byte in text.encode()] + [NULL] * end


class ScriptedModel:
    """Answers each canvas from the queue (the last for ever). `hesitation` takes from its sureness: at 0 one step
    settles everything. `rows`: what further rows of a batch hold instead of the first's script.

    Counts passes; keeps what was encoded and every canvas seen. `before_pass` is called with the number of passes.
    """

    def __init__(
        self,
        scripts: list[Script],
        *,
        sureness: float = SURE,
        rows: list[list[int]] | None = None,
        before_pass: Callable[[int], None] | None = None,
        vocab_size: int = VOCAB,
    ) -> None:
        self._scripts = scripts
        self._sureness = sureness
        self._rows = rows or []
        self._before_pass = before_pass
        self._vocab_size = vocab_size
        self._at = -1
        self._step = 0
        self.num_passes = 0
        self.num_forgotten = 0
        self.encoded: list[list[int]] = []
        self.canvases: list[list[list[int]]] = []

    @property
    def device(self) -> torch.device:
        return torch.device("cpu")

    @property
    def vocab_size(self) -> int:
        return self._vocab_size

    def encode(self, ids: list[int]) -> Encoded:
        assert ids, "nothing to encode"
        self.encoded.append(list(ids))
        return Encoded(num_tokens=len(ids), num_cached=0)

    def slot_logits(self, canvas: Tensor, slots: slice, last: LastStep | None) -> Tensor:
        if self._before_pass is not None:
            self._before_pass(self.num_passes)
        self.num_passes += 1
        self.canvases.append(canvas.tolist())
        self._step = 1 if last is None else self._step + 1
        self._at += last is None
        logits = torch.zeros(canvas.shape[0], slots.stop - slots.start, self._vocab_size)
        for row in range(canvas.shape[0]):
            for slot, token in enumerate(self._script(row)[: logits.shape[1]]):
                logits[row, slot, token] = self._sureness
        return logits

    def forget(self) -> None:
        self.num_forgotten += 1

    def _script(self, row: int) -> list[int]:
        if 0 < row <= len(self._rows):
            return self._rows[row - 1]
        script = self._scripts[min(self._at, len(self._scripts) - 1)]
        return script(self._step) if callable(script) else script


def byte_codec() -> TokenCodec:
    """Every byte a token, behind four special ones."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet(), key=_BYTE_OF.__getitem__)
    vocab = {"<pad>": PAD, "<bos>": BOS, "<null>": NULL, "<file>": FILE}
    vocab |= {char: FIRST + i for i, char in enumerate(alphabet)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<pad>", "<bos>", "<null>", "<file>"])
    return TokenCodec(tokenizer, frozenset(range(FIRST)))


def _alphabet() -> dict[str, int]:
    """The byte-level alphabet: bytes that print stand for themselves, the others follow from 0x100 on."""
    printed = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printed]
    return {chr(byte): byte for byte in printed} | {chr(0x100 + n): byte for n, byte in enumerate(others)}


_BYTE_OF = _alphabet()


def preset_of(**changes: object) -> Preset:
    """A greedy preset for the scripted model: 4 slots a line, 6 a block."""
    preset = Preset(
        name="scripted",
        source=Path("nowhere"),
        null_token=NULL,
        file_token=FILE,
        first_noise_id=FIRST,
        heals=False,
        line_slots=4,
        block_slots=6,
        tail=2,
        head=3,
        context=64,
        snippet_tokens=0,
        far_suffix_tokens=0,
        head_tokens=0,
        max_steps=4,
        t_min=0.0,
        t_max=0.0,
    )
    return replace(preset, **changes)  # type: ignore[arg-type]


def loaded_of(model: BlockModel) -> Loaded[BlockModel]:
    return Loaded(model=model, codec=byte_codec(), bos=BOS)
