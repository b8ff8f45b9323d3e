"""A small dense DiffusionGemma on a CPU, run with few and large operations.

With one expert a layer is attention and two gated MLPs side by side. Here queries, keys and values are one product, and
so are the gates and inputs of both MLPs; the scales of the norms before a product are folded into its weights; rotary
tables hold the query and key norms' scales; and the canvas writes its keys and values right behind the prefix's, so
that nothing is concatenated. Products may be made in bfloat16 where the processor has units for it; sums, norms and the
residual stream stay float32. tests/engine/test_dense.py holds it to `ModuleStack`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812
from transformers import DiffusionGemmaForBlockDiffusion

from midfill_engine.models.product import Product, gated_product, product

_FIRST_CAPACITY = 512


def fits_dense_stack(model: DiffusionGemmaForBlockDiffusion) -> bool:
    """Whether the model has nothing that `DenseStack` leaves out."""
    config = model.config.text_config
    is_plain = not config.attention_bias and config.hidden_activation == "gelu_pytorch_tanh"
    is_float = model.lm_head.weight.dtype in (torch.float32, torch.bfloat16)
    return bool(config.num_experts == 1 and is_plain and is_float and model.lm_head.weight.device.type == "cpu")


@dataclass(frozen=True)
class _Layer:
    """Weights of one layer as they are used; products in the compute type, all else float32."""

    kind: str
    window: int | None
    num_heads: int
    num_kv: int
    head_dim: int
    has_values: bool
    qkv: Product
    qk_scale: Tensor  # [heads + kv heads, head_dim], the scales of the norms of queries and keys
    out: Product
    gated: Product
    mlp_down: Product
    expert_down: Product
    num_mlp: int
    after_attention: Tensor
    after_mlp: Tensor
    after_expert: Tensor
    after_both: Tensor
    scalar: float


class DenseStack:
    """A `models.stack.Stack`."""

    def __init__(self, model: DiffusionGemmaForBlockDiffusion, compute: torch.dtype = torch.float32) -> None:
        config = model.config.text_config
        self._compute = compute
        self._eps: float = config.rms_norm_eps
        decoder = model.model.decoder
        self._rotary = decoder.rotary_emb
        conditioning = decoder.self_conditioning
        gate, up = _plain(conditioning.gate_proj.weight), _plain(conditioning.up_proj.weight)
        scale = _plain(conditioning.pre_norm.weight)
        self._signal_in = gated_product((gate * scale).to(compute), (up * scale).to(compute))
        self._signal_out = product(_plain(conditioning.down_proj.weight).to(compute))
        self._last_norm = _plain(decoder.norm.weight)
        kinds = list(config.layer_types)
        self._layers = [
            _fused(layer, kind, config.sliding_window, compute)
            for layer, kind in zip(decoder.layers, kinds, strict=True)
        ]
        # Encoder and decoder share all weights but for a scalar per layer.
        encoder_layers = model.model.encoder.language_model.layers
        self._encoder_scalars = [float(layer.layer_scalar) for layer in encoder_layers]
        self._length = 0
        self._keys: list[Tensor] = [_empty(layer, compute) for layer in self._layers]
        self._values: list[Tensor] = [_empty(layer, compute) for layer in self._layers]
        self._canvas: _Staging | None = None
        self._rows: _Staging | None = None
        self._num_grown = 0

    @property
    def length(self) -> int:
        return self._length

    def crop(self, length: int) -> None:
        assert 0 <= length <= self._length
        self._length, self._canvas, self._rows = length, None, None

    def encode(self, embedded: Tensor) -> Tensor:
        num_new = embedded.shape[1]
        self._reserve(self._length + num_new)
        self._canvas, self._rows = None, None
        ropes = self._ropes(self._length, num_new)
        masks: dict[int | None, Tensor | None] = {}
        hidden = embedded.float()
        for i, layer in enumerate(self._layers):
            if layer.window not in masks:
                masks[layer.window] = _causal(num_new, self._length, layer.window)
            end = self._length + num_new
            first = 0 if layer.window is None else max(0, self._length - layer.window + 1)
            seen = (self._keys[i][:, :, :end], self._values[i][:, :, :end])
            hidden = self._layer(layer, hidden, ropes[i], seen, first, masks[layer.window])
            hidden = hidden * self._encoder_scalars[i] if self._encoder_scalars[i] != 1.0 else hidden
        self._length += num_new
        return self._norm(hidden) * self._last_norm

    def decode(self, embedded: Tensor, signal: Tensor) -> Tensor:
        batch, num, _ = embedded.shape
        if self._canvas is None or self._canvas.shape != (batch, num):
            self._reserve(self._length + num)
            self._canvas, self._rows = self._stage(batch, num), None
        hidden = self._conditioned(embedded.float(), signal.float())
        for i, layer in enumerate(self._layers):
            first = 0 if layer.window is None else max(0, self._length - layer.window + 1)
            seen = (self._canvas.keys[i], self._canvas.values[i])
            hidden = self._layer(layer, hidden, self._canvas.ropes[i], seen, first, None)
            hidden = hidden * layer.scalar if layer.scalar != 1.0 else hidden
        return self._norm(hidden) * self._last_norm

    def branch(self, batch: int, room: int) -> None:
        self._reserve(self._length + room)
        self._canvas, self._rows, self._num_grown = None, self._stage(batch, room), 0

    def grow(self, embedded: Tensor, parents: Tensor | None = None) -> Tensor:
        assert self._rows is not None
        num, past = embedded.shape[1], self._length + self._num_grown
        if parents is not None:
            self._rows.reorder(parents, self._length, past)
        hidden = embedded.float()
        for i, layer in enumerate(self._layers):
            first = 0 if layer.window is None else max(0, past - layer.window + 1)
            seen = (self._rows.keys[i][:, :, : past + num], self._rows.values[i][:, :, : past + num])
            rope = self._rows.rope(i, self._num_grown, num)
            hidden = self._layer(layer, hidden, rope, seen, first, _causal(num, past, layer.window))
            hidden = hidden * self._encoder_scalars[i] if self._encoder_scalars[i] != 1.0 else hidden
        self._num_grown += num
        return self._norm(hidden) * self._last_norm

    def _conditioned(self, embedded: Tensor, signal: Tensor) -> Tensor:
        """The class's self-conditioning: a gated MLP of the signal added to the tokens, normed."""
        active = self._signal_in(self._norm(signal).to(self._compute))
        return self._norm(embedded + self._signal_out(active).float())

    def _layer(
        self,
        layer: _Layer,
        hidden: Tensor,
        rope: tuple[Tensor, Tensor],
        seen: tuple[Tensor, Tensor],
        first: int,
        mask: Tensor | None,
    ) -> Tensor:
        attended = self._attend(layer, self._norm(hidden), rope, seen, first, mask)
        hidden = hidden + self._norm(attended) * layer.after_attention
        active = layer.gated(self._norm(hidden).to(self._compute))
        mlp = layer.mlp_down(active[..., : layer.num_mlp]).float()
        expert = layer.expert_down(active[..., layer.num_mlp :]).float()
        mixed = self._norm(mlp) * layer.after_mlp + self._norm(expert) * layer.after_expert
        return hidden + self._norm(mixed) * layer.after_both

    def _attend(
        self,
        layer: _Layer,
        normed: Tensor,
        rope: tuple[Tensor, Tensor],
        seen: tuple[Tensor, Tensor],
        first: int,
        mask: Tensor | None,
    ) -> Tensor:
        """Attention over the cached positions from `first` on and the new ones, whose keys and values are written to
        the end of `seen`; [B, N, H]."""
        batch, num, _ = normed.shape
        num_qk = layer.num_heads + layer.num_kv
        projected = layer.qkv(normed.to(self._compute)).view(batch, num, -1, layer.head_dim).float()
        unit = self._norm(projected)
        cos, sin = rope
        rotated = unit[:, :, :num_qk] * cos + unit[:, :, :num_qk].roll(layer.head_dim // 2, -1) * sin
        values = unit[:, :, num_qk:] if layer.has_values else unit[:, :, layer.num_heads : num_qk]
        keys_seen, values_seen = seen
        keys_seen[:, :, -num:] = rotated[:, :, layer.num_heads :].transpose(1, 2)
        values_seen[:, :, -num:] = values.transpose(1, 2)
        group = layer.num_heads // layer.num_kv
        # The heads of a group share their keys: they become further queries of one head.
        queries = rotated[:, :, : layer.num_heads].view(batch, num, layer.num_kv, group, layer.head_dim)
        queries = queries.permute(0, 2, 3, 1, 4).reshape(batch, layer.num_kv, group * num, layer.head_dim)
        out = F.scaled_dot_product_attention(
            queries.to(keys_seen.dtype),
            keys_seen[:, :, first:],
            values_seen[:, :, first:],
            attn_mask=None if mask is None else mask.repeat(1, 1, group, 1),
            scale=1.0,
        )
        out = out.view(batch, layer.num_kv, group, num, layer.head_dim).permute(0, 3, 1, 2, 4)
        return layer.out(out.reshape(batch, num, -1).to(self._compute)).float()

    def _norm(self, hidden: Tensor) -> Tensor:
        """RMS norm without a scale."""
        size = hidden.shape[-1]
        norm: Tensor = torch.linalg.vector_norm(hidden, dim=-1, keepdim=True)
        return hidden * (norm.square_().div_(size).add_(self._eps).rsqrt_())

    def _ropes(self, start: int, num: int) -> list[tuple[Tensor, Tensor]]:
        """For each layer, what a unit query or key and its half-rotated self are multiplied with: cosines and signed
        sines times the norms' scales, [N, heads + kv heads, head_dim] each."""
        positions = torch.arange(start, start + num)[None]
        kinds = {layer.kind for layer in self._layers}
        tables = {kind: self._rotary(torch.empty(0), positions, kind) for kind in kinds}
        return [_scaled_rope(tables[layer.kind], layer.qk_scale) for layer in self._layers]

    def _reserve(self, needed: int) -> None:
        if needed <= self._keys[0].shape[2]:
            return
        capacity = max(_FIRST_CAPACITY, self._keys[0].shape[2])
        while capacity < needed:
            capacity *= 2
        for cache in (self._keys, self._values):
            for i, old in enumerate(cache):
                cache[i] = old.new_empty(1, old.shape[1], capacity, old.shape[3])
                cache[i][:, :, : self._length] = old[:, :, : self._length]

    def _stage(self, batch: int, num: int) -> _Staging:
        """Keys and values of the prefix with room for the canvas behind: the cache itself for one row, else a copy."""
        end = self._length + num
        keys = [cache[:, :, :end] for cache in self._keys]
        values = [cache[:, :, :end] for cache in self._values]
        if batch > 1:
            keys = [cache.repeat(batch, 1, 1, 1) for cache in keys]
            values = [cache.repeat(batch, 1, 1, 1) for cache in values]
        return _Staging((batch, num), keys, values, self._ropes(self._length, num))


@dataclass(frozen=True)
class _Staging:
    """What a canvas of `shape` (rows, positions) reads and writes in every step."""

    shape: tuple[int, int]
    keys: list[Tensor]
    values: list[Tensor]
    ropes: list[tuple[Tensor, Tensor]]

    def rope(self, layer: int, start: int, num: int) -> tuple[Tensor, Tensor]:
        """A layer's tables for `num` of the new positions, from `start` on."""
        first, second = self.ropes[layer]
        return first[start : start + num], second[start : start + num]

    def reorder(self, parents: Tensor, start: int, end: int) -> None:
        """Let each row have what its parent has at the positions from `start` to `end`."""
        for cache in (*self.keys, *self.values):
            cache[:, :, start:end] = cache[parents, :, start:end]


def _scaled_rope(table: tuple[Tensor, Tensor], scale: Tensor) -> tuple[Tensor, Tensor]:
    """rope(x * scale) = x * first + roll(x) * second, where roll swaps the halves of a head.

    `table`: cosines and sines, [1, N, head_dim] each.
    """
    cos, sin = table
    half = scale.shape[-1] // 2
    sign = torch.ones(scale.shape[-1])
    sign[:half] = -1.0
    return cos[0, :, None] * scale, sin[0, :, None] * (scale.roll(half, -1) * sign)


def _causal(num_new: int, past: int, window: int | None) -> Tensor | None:
    """[1, 1, num_new, seen] bool; None for a single position, which sees all that it is shown."""
    if num_new == 1:
        return None
    first = 0 if window is None else max(0, past - window + 1)
    query = torch.arange(past, past + num_new)[:, None]
    key = torch.arange(first, past + num_new)[None]
    is_seen = key <= query if window is None else (key <= query) & (key > query - window)
    return is_seen[None, None]


def _empty(layer: _Layer, dtype: torch.dtype) -> Tensor:
    return torch.empty(1, layer.num_kv, 0, layer.head_dim, dtype=dtype)


def _fused(layer: Any, kind: str, window: int, compute: torch.dtype) -> _Layer:
    """One decoder layer's weights, folded and joined."""
    attention, mlp, experts = layer.self_attn, layer.mlp, layer.experts
    head_dim = int(attention.head_dim)
    num_heads = attention.q_proj.out_features // head_dim
    num_kv = attention.k_proj.out_features // head_dim
    projections = [attention.q_proj, attention.k_proj] + ([attention.v_proj] if attention.v_proj is not None else [])
    qkv = torch.cat([_plain(p.weight) for p in projections]) * _plain(layer.input_layernorm.weight)
    before_mlp = _plain(layer.pre_feedforward_layernorm.weight)
    before_expert = _plain(layer.pre_feedforward_layernorm_2.weight)
    gate, up = _plain(experts.gate_up_proj[0]).chunk(2)
    gates = torch.cat([_plain(mlp.gate_proj.weight) * before_mlp, gate * before_expert])
    inputs = torch.cat([_plain(mlp.up_proj.weight) * before_mlp, up * before_expert])
    return _Layer(
        kind=kind,
        window=window if kind == "sliding_attention" else None,
        num_heads=num_heads,
        num_kv=num_kv,
        head_dim=head_dim,
        has_values=attention.v_proj is not None,
        qkv=product(qkv.to(compute)),
        qk_scale=torch.cat(
            [_plain(attention.q_norm.weight).expand(num_heads, -1), _plain(attention.k_norm.weight).expand(num_kv, -1)]
        ),
        out=product(_plain(attention.o_proj.weight).to(compute)),
        gated=gated_product(gates.to(compute), inputs.to(compute)),
        mlp_down=product(_plain(mlp.down_proj.weight).to(compute)),
        expert_down=product((_plain(experts.down_proj[0]) * _plain(layer.router.per_expert_scale)).to(compute)),
        num_mlp=mlp.gate_proj.out_features,
        after_attention=_plain(layer.post_attention_layernorm.weight),
        after_mlp=_plain(layer.post_feedforward_layernorm_1.weight),
        after_expert=_plain(layer.post_feedforward_layernorm_2.weight),
        after_both=_plain(layer.post_feedforward_layernorm.weight),
        scalar=float(layer.layer_scalar),
    )


def _plain(weight: Tensor) -> Tensor:
    return weight.detach().float()
