"""Uniform-noise block diffusion: transformers' DiffusionGemma, asked layer by layer.

The layers, their weights and their mathematics are the class's own. What is ours is around them: a cache that can be
cropped, logits and soft embeddings on slot rows only, a pinned position that shows itself as its own self-conditioning,
and masks only where they say something. tests/engine/test_oracle_forward.py holds this to the class's own forward.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import torch
from torch import Tensor
from transformers import DiffusionGemmaForBlockDiffusion

from midfill_engine.denoise.loop import LastStep, Slots
from midfill_engine.models.base import Encoded
from midfill_engine.models.product import product
from midfill_engine.models.stack import ModuleStack, Stack

_CHUNK = 1024  # prompt positions per encoder pass: bounds the memory of a long prompt's attention


class FirstSignal(StrEnum):
    """What self-conditioning a model was trained to see at the first step, when there are no logits yet.

    zero: nothing anywhere, as transformers' `generate` has it. mean: slots show the mean embedding (the expectation
    under even odds), pinned positions show themselves.
    """

    ZERO = "zero"
    MEAN = "mean"


class Conditioning(StrEnum):
    """What self-conditioning a model was trained to see at later steps.

    expected: of each slot, the expectation under the logits of the step before, as transformers' `generate` has it.
    locked: a locked slot shows its own token and an open one what it shows at the first step, so that every step is a
    first step with more pinned: easier to learn for a small model, and a product with the vocabulary less.
    """

    EXPECTED = "expected"
    LOCKED = "locked"


class DiffusionGemma:
    """A `BlockModel` over a loaded DiffusionGemma. Owned by one thread.

    `stack` None: the class's own modules. `table_dtype`: in what type the products with the vocabulary's embeddings are
    made, the head's and the expectation's; None: as loaded.
    """

    def __init__(
        self,
        model: DiffusionGemmaForBlockDiffusion,
        first_signal: FirstSignal = FirstSignal.ZERO,
        stack: Stack | None = None,
        table_dtype: torch.dtype | None = None,
        conditioning: Conditioning = Conditioning.EXPECTED,
    ) -> None:
        self._model = model.eval()
        self._stack = stack or ModuleStack(model)
        self._embed = model.model.decoder.embed_tokens
        self._table = model.lm_head.weight.detach().to(table_dtype or model.lm_head.weight.dtype)  # [V, H]
        self._head = product(self._table)
        self._cap: float = model.final_logit_softcapping
        self._first_signal = first_signal
        self._conditioning = conditioning
        self._mean = mean_embedding(self._embed)
        self._ids: list[int] = []

    @property
    def device(self) -> torch.device:
        device: torch.device = self._model.lm_head.weight.device
        return device

    @property
    def vocab_size(self) -> int:
        return int(self._model.config.text_config.vocab_size)

    @torch.inference_mode()
    def encode(self, ids: list[int]) -> Encoded:
        known = self._crop_to_common(ids)
        for start in range(known, len(ids), _CHUNK):
            self._encode_chunk(ids[start : start + _CHUNK])
        return Encoded(num_tokens=len(ids), num_cached=known)

    @torch.inference_mode()
    def slot_logits(self, canvas: Tensor, slots: Slots, last: LastStep | None) -> Tensor:
        signal = self._signal(canvas, slots, last)
        return self._logits(self._stack.decode(self._embed(canvas), signal)[:, slots])

    @torch.inference_mode()
    def next_logits(self, ids: list[int]) -> Tensor:
        """The encoder used as a causal language model: logits of what follows each position newly encoded, [n, V].

        Extends the cache as `encode` does. Raises ValueError where nothing is new, since then nothing is computed.
        """
        known = self._crop_to_common(ids)
        if known == len(ids):
            raise ValueError("next_logits needs at least one token that is not encoded yet")
        hidden = [self._encode_chunk(ids[start : start + _CHUNK]) for start in range(known, len(ids), _CHUNK)]
        return self._logits(torch.cat(hidden, 1))[0]

    @torch.inference_mode()
    def branch(self, ids: list[int], num_rows: int, room: int) -> None:
        """Begin rows that each go on behind `ids`, see `Stack.branch`."""
        self.encode(ids)
        self._stack.branch(num_rows, room)

    @torch.inference_mode()
    def branch_logits(self, tokens: Tensor, parents: Tensor | None = None) -> Tensor:
        """Logits of what follows each further token [B, n] of the rows of `branch`, [B, n, V]."""
        return self._logits(self._stack.grow(self._embed(tokens), parents))

    def forget(self) -> None:
        self._stack.crop(0)
        self._ids = []

    def _crop_to_common(self, ids: list[int]) -> int:
        known = _common_length(self._ids, ids)
        self._stack.crop(known)
        self._ids = ids[:known]
        return known

    def _encode_chunk(self, ids: list[int]) -> Tensor:
        """Encode `ids` behind what is cached; hidden states [1, n, H]. An interrupted pass leaves an empty cache."""
        embedded = self._embed(torch.tensor([ids], device=self.device))
        try:
            hidden = self._stack.encode(embedded)
        except BaseException:
            self.forget()
            raise
        self._ids = self._ids + ids
        return hidden

    def _logits(self, hidden: Tensor) -> Tensor:
        """Softcapped logits in float32, [..., V], as the class's forward makes them."""
        rows = hidden.reshape(-1, hidden.shape[-1]).to(self._table.dtype)  # two-dimensional, as in `_expected`
        logits = self._head(rows).float().view(*hidden.shape[:-1], -1)
        return logits.div_(self._cap).tanh_().mul_(self._cap)

    def _expected(self, logits: Tensor) -> Tensor:
        """Expected embedding under softmax(logits): [..., H] from [..., V]."""
        probs = logits.softmax(-1, dtype=torch.float32).to(self._table.dtype)
        rows = probs.flatten(0, -2) @ self._table  # two-dimensional: a batched product would copy the table
        expected = rows.view(*logits.shape[:-1], -1).to(self._embed.weight.dtype)
        scaled: Tensor = expected * self._embed.embed_scale.to(expected.dtype)
        return scaled

    def _signal(self, canvas: Tensor, slots: Slots, last: LastStep | None) -> Tensor:
        """Self-conditioning embeddings [B, N, H]: pinned positions show their own token, slots what is known."""
        own: Tensor = self._embed(canvas)
        if last is None:
            if self._first_signal is FirstSignal.ZERO:
                return torch.zeros_like(own)
            own[:, slots] = self._mean
        elif self._conditioning is Conditioning.LOCKED:
            own[:, slots] = torch.where(last.is_locked[..., None], own[:, slots], self._mean)
        else:
            own[:, slots] = self._expected(last.logits)
        return own


def mean_embedding(embed: Any) -> Tensor:
    """Expected embedding when every token is as likely as any other, [H]."""
    mean: Tensor = embed.weight.float().mean(0).to(embed.weight.dtype) * embed.embed_scale.to(embed.weight.dtype)
    return mean


def _common_length(a: list[int], b: list[int]) -> int:
    """How many tokens two prompts begin with alike."""
    shortest = min(len(a), len(b))
    if a[:shortest] == b[:shortest]:
        return shortest
    low, high = 0, shortest  # a[:low] == b[:low], a[:high] != b[:high]
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle)
    return low
