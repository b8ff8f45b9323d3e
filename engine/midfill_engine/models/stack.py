"""The layers between embedding and head, with the cache they read: two ways of running the same mathematics.

`ModuleStack` calls the class's own modules and serves every DiffusionGemma. `models.dense.DenseStack` serves small
dense ones, for which calling modules costs more than multiplying.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import torch
from torch import Tensor
from transformers import DiffusionGemmaForBlockDiffusion

from midfill_engine.models.cache import DecoderView, PrefixCache, RowCache, causal_mask, row_mask
from midfill_engine.models.experts import make_lone_experts_dense


class Stack(Protocol):
    """Runs encoder and decoder over embedded tokens and owns the prefix's keys and values."""

    @property
    def length(self) -> int:
        """How many positions are encoded."""
        ...

    def crop(self, length: int) -> None:
        """Forget all positions from `length` on."""
        ...

    def encode(self, embedded: Tensor) -> Tensor:
        """Causal pass over [1, n, H] behind what is encoded; hidden states after the last norm. Extends the cache."""
        ...

    def decode(self, embedded: Tensor, signal: Tensor) -> Tensor:
        """Bidirectional pass over a canvas behind what is encoded; hidden states after the last norm, [B, N, H].

        `embedded`, `signal` [B, N, H]: the canvas's tokens and its self-conditioning embeddings.
        """
        ...

    def branch(self, batch: int, room: int) -> None:
        """Begin `batch` rows that each go on causally behind what is encoded, by up to `room` positions. What is
        encoded stays as it is; `encode`, `decode` and `crop` end them."""
        ...

    def grow(self, embedded: Tensor, parents: Tensor | None = None) -> Tensor:
        """Causal pass over [B, n, H] behind the rows of `branch`; hidden states after the last norm. `parents` [B]: the
        row that each row goes on from; None: itself."""
        ...


class ModuleStack:
    """The class's own layers, called one by one."""

    def __init__(self, model: DiffusionGemmaForBlockDiffusion) -> None:
        make_lone_experts_dense(model)
        config = model.config.text_config
        self._encoder = model.model.encoder.language_model
        self._decoder = model.model.decoder
        self._kinds: list[str] = list(config.layer_types)
        self._window: int = config.sliding_window
        self._cache = PrefixCache([self._window if kind == "sliding_attention" else None for kind in self._kinds])
        self._view: DecoderView | None = None
        self._rows: RowCache | None = None

    @property
    def length(self) -> int:
        return self._cache.length

    def crop(self, length: int) -> None:
        self._cache.crop(length)
        self._view, self._rows = None, None

    def encode(self, embedded: Tensor) -> Tensor:
        past, num_new, device = self._cache.length, embedded.shape[1], embedded.device
        masks = {
            kind: causal_mask(num_new, past, self._window if kind == "sliding_attention" else None, device)
            for kind in set(self._kinds)
        }
        positions = torch.arange(past, past + num_new, device=device)[None]
        self._view, self._rows = None, None
        return run_layers(self._encoder, self._kinds, embedded, positions, masks, self._cache)

    def decode(self, embedded: Tensor, signal: Tensor) -> Tensor:
        batch, num, _ = embedded.shape
        self._rows = None
        embedded = self._decoder.self_conditioning(embedded, signal)
        if self._view is None or self._view.layers[0].keys.shape[0] != batch:
            self._view = self._cache.seen_by(batch)
        positions = torch.arange(self._cache.length, self._cache.length + num, device=embedded.device)[None]
        return run_layers(self._decoder, self._kinds, embedded, positions, dict.fromkeys(self._kinds), self._view)

    def branch(self, batch: int, room: int) -> None:
        self._rows = RowCache(self._cache.seen_by(batch))

    def grow(self, embedded: Tensor, parents: Tensor | None = None) -> Tensor:
        assert self._rows is not None
        if parents is not None:
            self._rows.reorder(parents)
        past, num, device = self._cache.length, embedded.shape[1], embedded.device
        done = self._rows.length
        masks = {
            kind: row_mask(num, done, past, self._window if kind == "sliding_attention" else None, device)
            for kind in set(self._kinds)
        }
        positions = torch.arange(past + done, past + done + num, device=device)[None]
        return run_layers(self._encoder, self._kinds, embedded, positions, masks, self._rows)


def run_layers(
    stack: Any,
    kinds: list[str],
    hidden: Tensor,
    positions: Tensor,
    masks: Mapping[str, Tensor | None],
    cache: PrefixCache | DecoderView | RowCache | None,
) -> Tensor:
    """Encoder or decoder layers and the last norm over embedded tokens [B, N, H], by the class's own modules."""
    ropes = {kind: stack.rotary_emb(hidden, positions, kind) for kind in set(kinds)}
    for layer, kind in zip(stack.layers, kinds, strict=True):
        hidden = layer(
            hidden,
            position_embeddings=ropes[kind],
            attention_mask=masks[kind],
            position_ids=positions,
            cache=cache,
        )
    normed: Tensor = stack.norm(hidden)
    return normed
