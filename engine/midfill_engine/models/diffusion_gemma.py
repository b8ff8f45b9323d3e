"""Uniform-noise block diffusion: transformers' DiffusionGemma, asked layer by layer.

The layers, their weights and their mathematics are the class's own. What is ours is around them: a cache that can be
cropped, logits and soft embeddings on slot rows only, a pinned position that shows itself as its own self-conditioning,
and masks only where they say something. tests/engine/test_oracle_forward.py holds this to the class's own forward.
"""

from __future__ import annotations

from enum import StrEnum

import torch
from torch import Tensor, nn
from transformers import DiffusionGemmaForBlockDiffusion

from midfill_engine.models.base import Encoded
from midfill_engine.models.cache import DecoderView, PrefixCache, causal_mask
from midfill_engine.models.experts import make_lone_experts_dense

_CHUNK = 1024  # prompt positions per encoder pass: bounds the memory of a long prompt's attention


class FirstSignal(StrEnum):
    """What self-conditioning a model was trained to see at the first step, when there are no logits yet.

    zero: nothing anywhere, as transformers' `generate` has it. mean: slots show the mean embedding (the expectation
    under even odds), pinned positions show themselves.
    """

    ZERO = "zero"
    MEAN = "mean"


class DiffusionGemma:
    """A `BlockModel` over a loaded DiffusionGemma. Owned by one thread."""

    def __init__(self, model: DiffusionGemmaForBlockDiffusion, first_signal: FirstSignal = FirstSignal.ZERO) -> None:
        make_lone_experts_dense(model)
        self._model = model.eval()
        self._encoder = model.model.encoder.language_model
        self._decoder = model.model.decoder
        self._first_signal = first_signal
        config = model.config.text_config
        self._kinds: list[str] = list(config.layer_types)
        self._window: int = config.sliding_window
        self._cache = self._empty_cache()
        self._ids: list[int] = []
        self._view: DecoderView | None = None

    @property
    def device(self) -> torch.device:
        return self._model.lm_head.weight.device

    @property
    def vocab_size(self) -> int:
        return int(self._model.config.text_config.vocab_size)

    @torch.inference_mode()
    def encode(self, ids: list[int]) -> Encoded:
        known = _common_length(self._ids, ids)
        self._cache.crop(known)
        self._ids, self._view = ids[:known], None
        for start in range(known, len(ids), _CHUNK):
            self._encode_chunk(ids[start : start + _CHUNK])
        return Encoded(num_tokens=len(ids), num_cached=known)

    @torch.inference_mode()
    def slot_logits(self, canvas: Tensor, slots: slice, previous: Tensor | None) -> Tensor:
        hidden = self._decode(canvas, self._signal(canvas, slots, previous))
        return head_logits(self._model, hidden[:, slots])

    @torch.inference_mode()
    def next_logits(self, ids: list[int]) -> Tensor:
        """The encoder used as a causal language model: logits of what follows each position newly encoded, [n, V].

        Extends the cache as `encode` does. Raises ValueError where nothing is new, since then nothing is computed.
        """
        known = _common_length(self._ids, ids)
        if known == len(ids):
            raise ValueError("next_logits needs at least one token that is not encoded yet")
        self._cache.crop(known)
        self._ids, self._view = ids[:known], None
        hidden = [self._encode_chunk(ids[start : start + _CHUNK]) for start in range(known, len(ids), _CHUNK)]
        return head_logits(self._model, torch.cat(hidden, 1))[0]

    def forget(self) -> None:
        self._cache, self._ids, self._view = self._empty_cache(), [], None

    def _empty_cache(self) -> PrefixCache:
        return PrefixCache([self._window if kind == "sliding_attention" else None for kind in self._kinds])

    def _encode_chunk(self, ids: list[int]) -> Tensor:
        """Encode `ids` behind what is cached; hidden states [1, n, H]. The cache counts only when all of it is done."""
        past = self._cache.length
        positions = torch.arange(past, past + len(ids), device=self.device)[None]
        masks = {
            kind: causal_mask(len(ids), past, self._window if kind == "sliding_attention" else None, self.device)
            for kind in set(self._kinds)
        }
        embedded = self._encoder.embed_tokens(torch.tensor([ids], device=self.device))
        try:
            hidden = run_layers(self._encoder, self._kinds, embedded, positions, masks, self._cache)
        except BaseException:
            self.forget()
            raise
        self._ids = self._ids + ids
        return hidden

    def _decode(self, canvas: Tensor, signal: Tensor) -> Tensor:
        """Hidden states of the canvas, [B, N, H]."""
        batch, num = canvas.shape
        if self._view is None or self._view.layers[0].keys.shape[0] != batch:
            self._view = self._cache.seen_by(batch)
        positions = torch.arange(self._cache.length, self._cache.length + num, device=canvas.device)[None]
        embedded = self._decoder.self_conditioning(self._decoder.embed_tokens(canvas), signal)
        no_masks = dict.fromkeys(self._kinds)
        return run_layers(self._decoder, self._kinds, embedded, positions, no_masks, self._view)

    def _signal(self, canvas: Tensor, slots: slice, previous: Tensor | None) -> Tensor:
        """Self-conditioning embeddings [B, N, H]: pinned positions show their own token, slots what was expected."""
        embed = self._decoder.embed_tokens
        own: Tensor = embed(canvas)
        if previous is None and self._first_signal is FirstSignal.ZERO:
            return torch.zeros_like(own)
        own[:, slots] = mean_embedding(embed) if previous is None else soft_embedding(embed, previous)
        return own


def run_layers(
    stack: nn.Module,
    kinds: list[str],
    hidden: Tensor,
    positions: Tensor,
    masks: dict[str, Tensor | None],
    cache: PrefixCache | DecoderView | None,
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


def head_logits(model: DiffusionGemmaForBlockDiffusion, hidden: Tensor) -> Tensor:
    """Softcapped logits in float32, [..., V], as the class's forward makes them."""
    cap = model.final_logit_softcapping
    logits: Tensor = model.lm_head(hidden).float()
    return logits.div_(cap).tanh_().mul_(cap)


def soft_embedding(embed: nn.Module, logits: Tensor) -> Tensor:
    """Expected embedding under softmax(logits): [..., H] from [..., V]."""
    probs = logits.softmax(-1, dtype=torch.float32).to(embed.weight.dtype)
    scaled: Tensor = (probs @ embed.weight) * embed.embed_scale.to(embed.weight.dtype)
    return scaled


def mean_embedding(embed: nn.Module) -> Tensor:
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
