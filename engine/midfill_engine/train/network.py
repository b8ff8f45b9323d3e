"""A lean training forward of DiffusionGemma with one expert: the class's own weights and mathematics, fewer passes.

What it does differently from transformers' modules, and why nothing changes in the numbers (tests compare both):
- RMS norms that feed a linear layer are folded into that layer's weights, so queries, keys and values are one product
  and the dense and the expert MLP's first halves are another.
- One expert needs no routing: it is a second dense MLP, scaled by the router's `per_expert_scale`.
- The weights are cast once per call to the compute type (bf16 where the machine multiplies it faster); gradients flow
  back to the fp32 masters through the cast.

It knows nothing of losses, data or optimisers.

    model ──cast_weights──> Weights ──encode──> hidden, PrefixKeyValues ──decode──> canvas hidden
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional

if TYPE_CHECKING:
    from transformers import DiffusionGemmaForBlockDiffusion

LayerFunction = Callable[..., tuple[Tensor, Tensor, Tensor]]
CAUSAL_ROWS = 128


@dataclass(frozen=True, kw_only=True)
class LayerWeights:
    """One layer in the compute type. D hidden, H heads, K key heads, E head size, F dense and G expert MLP width."""

    qkv: Tensor  # [(H + K (+ K)) * E, D], the last K only where values are not the keys
    out: Tensor  # [D, H * E]
    up: Tensor  # [2 * F + 2 * G, D]: dense gate, dense up, expert gate, expert up
    down_dense: Tensor  # [D, F]
    down_expert: Tensor  # [D, G]
    q_norm: Tensor  # [E]
    k_norm: Tensor  # [E]
    post_attention: Tensor  # [D]
    post_dense: Tensor  # [D]
    post_expert: Tensor  # [D]
    post_mlp: Tensor  # [D]
    scalar: Tensor  # [1]
    key_size: int  # K * E

    def tensors(self) -> tuple[Tensor, ...]:
        """The weights in the order `layer_forward` takes them."""
        return (
            self.qkv, self.out, self.up, self.down_dense, self.down_expert, self.q_norm, self.k_norm,
            self.post_attention, self.post_dense, self.post_expert, self.post_mlp, self.scalar,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Weights:
    """The text part of the model in the compute type."""

    layers: tuple[LayerWeights, ...]
    kinds: tuple[str, ...]
    embedding: Tensor  # [V, D], tied with the head
    embed_scale: float
    final_norm: Tensor  # [D]
    condition_in: Tensor  # [2 * F, D], pre-norm folded in
    condition_out: Tensor  # [D, F]
    head_size: int
    softcap: float


def rms(x: Tensor, eps: float = 1e-6) -> Tensor:
    """Root-mean-square normalisation without a scale, computed in fp32, returned in x's type."""
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)).to(x.dtype)


def cast_weights(model: DiffusionGemmaForBlockDiffusion, dtype: torch.dtype) -> Weights:
    """The decoder's (that is, the shared) weights in `dtype`, norms folded in; differentiable back to the masters."""
    stack = model.model.decoder
    config = model.config.text_config
    condition = stack.self_conditioning
    gate_up = torch.cat([condition.gate_proj.weight, condition.up_proj.weight])
    return Weights(
        layers=tuple(_cast_layer(layer, dtype) for layer in stack.layers),
        kinds=tuple(config.layer_types),
        embedding=model.lm_head.weight.to(dtype),
        embed_scale=float(config.hidden_size**0.5),
        final_norm=stack.norm.weight.to(dtype),
        condition_in=(gate_up * condition.pre_norm.weight).to(dtype),
        condition_out=condition.down_proj.weight.to(dtype),
        head_size=int(config.head_dim),
        softcap=float(model.final_logit_softcapping),
    )


def _cast_layer(layer: Any, dtype: torch.dtype) -> LayerWeights:
    attention, mlp, experts = layer.self_attn, layer.mlp, layer.experts
    projections = [attention.q_proj.weight, attention.k_proj.weight]
    if attention.v_proj is not None:
        projections.append(attention.v_proj.weight)
    dense_up = torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight]) * layer.pre_feedforward_layernorm.weight
    expert_up = experts.gate_up_proj[0] * layer.pre_feedforward_layernorm_2.weight
    return LayerWeights(
        qkv=(torch.cat(projections) * layer.input_layernorm.weight).to(dtype),
        out=attention.o_proj.weight.to(dtype),
        up=torch.cat([dense_up, expert_up]).to(dtype),
        down_dense=mlp.down_proj.weight.to(dtype),
        down_expert=(experts.down_proj[0] * layer.router.per_expert_scale).to(dtype),
        q_norm=attention.q_norm.weight.to(dtype),
        k_norm=attention.k_norm.weight.to(dtype),
        post_attention=layer.post_attention_layernorm.weight.to(dtype),
        post_dense=layer.post_feedforward_layernorm_1.weight.to(dtype),
        post_expert=layer.post_feedforward_layernorm_2.weight.to(dtype),
        post_mlp=layer.post_feedforward_layernorm.weight.to(dtype),
        scalar=layer.layer_scalar.to(dtype),
        key_size=int(attention.k_proj.weight.shape[0]),
    )


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding. x [B, L, H, E]; cos, sin [B or 1, L, 1, E]."""
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * cos + turned * sin


def layer_forward(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    past_keys: Tensor | None,
    past_values: Tensor | None,
    masks: tuple[Tensor, ...],
    head_size: int,
    key_size: int,
    qkv: Tensor,
    out: Tensor,
    up: Tensor,
    down_dense: Tensor,
    down_expert: Tensor,
    q_norm: Tensor,
    k_norm: Tensor,
    post_attention: Tensor,
    post_dense: Tensor,
    post_expert: Tensor,
    post_mlp: Tensor,
    scalar: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """One layer. x [B, L, D]; past_* [B, K, P, E]; masks: see `blockwise_attention`, none for plain causal attention.

    Returns the hidden states and this call's own keys and values [B, K, L, E].
    """
    batch, length, _ = x.shape
    query_size = out.shape[1]
    mixed = functional.linear(rms(x), qkv)
    query = mixed[..., :query_size].view(batch, length, -1, head_size)
    key = mixed[..., query_size : query_size + key_size].view(batch, length, -1, head_size)
    value = mixed[..., -key_size:].view(batch, length, -1, head_size)
    query = rotate(rms(query) * q_norm, cos, sin).transpose(1, 2)
    keys = rotate(rms(key) * k_norm, cos, sin).transpose(1, 2)
    values = rms(value).transpose(1, 2)
    if past_keys is not None and past_values is not None:
        attended = blockwise_attention(query, keys, values, past_keys, past_values, masks)
    else:
        attended = causal_attention(query, keys, values)
    attended = attended.transpose(1, 2).reshape(batch, length, query_size)
    x = x + rms(functional.linear(attended, out)) * post_attention
    wide = functional.linear(rms(x), up)
    dense, expert = down_dense.shape[1], down_expert.shape[1]
    gate, rise, expert_gate, expert_rise = torch.split(wide, [dense, dense, expert, expert], dim=-1)
    first = functional.linear(functional.gelu(gate, approximate="tanh") * rise, down_dense)
    second = functional.linear(functional.gelu(expert_gate, approximate="tanh") * expert_rise, down_expert)
    joined = rms(first) * post_dense + rms(second) * post_expert
    return (x + rms(joined) * post_mlp) * scalar, keys, values


def attention(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Scores are not scaled (the norms do that). query [B, H, L, E], keys and values [B, K, S, E], H a multiple of K;
    mask [B or 1, 1, L, S] to add. Returns [B, H, L, E].

    On the CPU the heads that share a key head are the rows of one product: the small products of torch's own attention
    run at a third of the speed there, backward above all.
    """
    batch, heads, length, size = query.shape
    if query.is_cuda:
        return functional.scaled_dot_product_attention(
            query, keys, values, attn_mask=mask, scale=1.0, enable_gqa=keys.shape[1] != heads
        )
    rows = query.reshape(batch, keys.shape[1], -1, size)
    scores = (rows @ keys.mT).view(batch, heads, length, -1)
    shares = torch.softmax(scores.float() + mask, -1).to(query.dtype)
    return (shares.view(batch, keys.shape[1], rows.shape[2], -1) @ values).view(batch, heads, length, size)


def causal_attention(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Plain causal attention over one stretch, in blocks of rows that leave out the later keys altogether."""
    heads, length = query.shape[1], query.shape[2]
    if query.is_cuda:
        return functional.scaled_dot_product_attention(
            query, keys, values, is_causal=True, scale=1.0, enable_gqa=keys.shape[1] != heads
        )
    attended = []
    for first in range(0, length, CAUSAL_ROWS):
        last = min(first + CAUSAL_ROWS, length)
        later = torch.full((last - first, last), float("-inf"), device=query.device).triu(first + 1)
        attended.append(attention(query[:, :, first:last], keys[:, :, :last], values[:, :, :last], later[None, None]))
    return torch.cat(attended, dim=-2)


def blockwise_attention(
    query: Tensor, keys: Tensor, values: Tensor, past_keys: Tensor, past_values: Tensor, masks: tuple[Tensor, ...]
) -> Tensor:
    """The decoder's attention, block by block: no canvas crosses a block, and a block's canvases see only the first
    positions of the prefix, so most of the [N, W + N] scores need not be computed.

    masks: for each block of N / len(masks) positions one [B, 1, N / len(masks), P + N / len(masks)] to add, of which
    the first P columns are the prefix.
    """
    size = query.shape[2] // len(masks)
    attended = []
    for number, mask in enumerate(masks):
        own = slice(number * size, (number + 1) * size)
        seen = mask.shape[-1] - size
        block_keys = torch.cat([past_keys[:, :, :seen], keys[:, :, own]], dim=-2)
        block_values = torch.cat([past_values[:, :, :seen], values[:, :, own]], dim=-2)
        attended.append(attention(query[:, :, own], block_keys, block_values, mask))
    return torch.cat(attended, dim=-2)


@dataclass(frozen=True, kw_only=True)
class PrefixKeyValues:
    """What the encoder leaves for the decoder: one [B, K, W, E] tensor a layer."""

    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]


class Network:
    """The two passes over cast weights. `layer` may be a compiled `layer_forward`."""

    def __init__(self, model: DiffusionGemmaForBlockDiffusion, layer: LayerFunction = layer_forward) -> None:
        self.layer = layer
        self.rotary = model.model.decoder.rotary_emb

    def encode(self, weights: Weights, ids: Tensor) -> tuple[Tensor, PrefixKeyValues]:
        """Causal pass over ids [B, W] from position 0. Returns hidden states [B, W, D] before the final norm's head."""
        x = embed(weights, ids)
        positions = torch.arange(ids.shape[1], device=ids.device)[None]
        x, keys, values = self._run(weights, x, positions, None, ())
        return x, PrefixKeyValues(keys=keys, values=values)

    def decode(
        self,
        weights: Weights,
        ids: Tensor,
        soft: Tensor,
        past: PrefixKeyValues,
        positions: Tensor,
        masks: tuple[Tensor, ...],
    ) -> Tensor:
        """One denoising pass: ids [B, N], self-conditioning embeddings soft [B, N, D], positions [B, N], masks: see
        `blockwise_attention`. Returns hidden states [B, N, D]."""
        x = condition(embed(weights, ids), soft, weights.condition_in, weights.condition_out)
        return self._run(weights, x, positions, past, masks)[0]

    def _run(
        self, weights: Weights, x: Tensor, positions: Tensor, past: PrefixKeyValues | None, masks: tuple[Tensor, ...]
    ) -> tuple[Tensor, tuple[Tensor, ...], tuple[Tensor, ...]]:
        ropes = {kind: self._rope(x, positions, kind) for kind in set(weights.kinds)}
        keys, values = [], []
        for index, (layer, kind) in enumerate(zip(weights.layers, weights.kinds, strict=True)):
            past_keys, past_values = (past.keys[index], past.values[index]) if past is not None else (None, None)
            cos, sin = ropes[kind]
            x, own_keys, own_values = self.layer(
                x, cos, sin, past_keys, past_values, masks, weights.head_size, layer.key_size, *layer.tensors()
            )
            keys.append(own_keys)
            values.append(own_values)
        return rms(x) * weights.final_norm, tuple(keys), tuple(values)

    def _rope(self, x: Tensor, positions: Tensor, kind: str) -> tuple[Tensor, Tensor]:
        cos, sin = self.rotary(x, positions, kind)
        return cos.unsqueeze(2), sin.unsqueeze(2)


def embed(weights: Weights, ids: Tensor) -> Tensor:
    """Scaled token embeddings [..., D]."""
    return functional.embedding(ids, weights.embedding) * weights.embed_scale


def condition(x: Tensor, soft: Tensor, condition_in: Tensor, condition_out: Tensor) -> Tensor:
    """The self-conditioning block: embeddings x and soft embeddings [B, N, D] to the decoder's input."""
    gate, rise = functional.linear(rms(soft), condition_in).chunk(2, dim=-1)
    return rms(x + functional.linear(functional.gelu(gate, approximate="tanh") * rise, condition_out))
