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
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

if TYPE_CHECKING:
    from transformers import DiffusionGemmaForBlockDiffusion

LayerFunction = Callable[..., tuple[Tensor, Tensor, Tensor]]


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


def _cast_layer(layer: torch.nn.Module, dtype: torch.dtype) -> LayerWeights:
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
    mask: Tensor | None,
    head_size: int,
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
    """One layer. x [B, L, D]; past_* [B, K, P, E]; mask [B, 1, L, P + L] boolean, None for plain causal.

    Returns the hidden states and this call's own keys and values [B, K, L, E].
    """
    batch, length, _ = x.shape
    num_query = out.shape[1]
    num_key = (qkv.shape[0] - num_query) // (1 if _values_are_keys(qkv, num_query, head_size) else 2)
    mixed = functional.linear(rms(x), qkv)
    query = mixed[..., :num_query].view(batch, length, -1, head_size)
    key = mixed[..., num_query : num_query + num_key].view(batch, length, -1, head_size)
    value = mixed[..., mixed.shape[-1] - num_key :].view(batch, length, -1, head_size)
    query = rotate(rms(query) * q_norm, cos, sin).transpose(1, 2)
    own_keys = rotate(rms(key) * k_norm, cos, sin).transpose(1, 2)
    own_values = rms(value).transpose(1, 2)
    keys, values = own_keys, own_values
    if past_keys is not None and past_values is not None:
        keys = torch.cat([past_keys, own_keys], dim=-2)
        values = torch.cat([past_values, own_values], dim=-2)
    heads = query.shape[1]
    attended = functional.scaled_dot_product_attention(
        query,
        keys.expand(batch, heads, -1, -1) if keys.shape[1] == 1 else keys,
        values.expand(batch, heads, -1, -1) if values.shape[1] == 1 else values,
        attn_mask=mask,
        is_causal=mask is None,
        scale=1.0,
    )
    attended = attended.transpose(1, 2).reshape(batch, length, num_query)
    x = x + rms(functional.linear(attended, out)) * post_attention
    wide = functional.linear(rms(x), up)
    dense, expert = down_dense.shape[1], down_expert.shape[1]
    gate, rise, expert_gate, expert_rise = wide.split([dense, dense, expert, expert], dim=-1)
    first = functional.linear(functional.gelu(gate, approximate="tanh") * rise, down_dense)
    second = functional.linear(functional.gelu(expert_gate, approximate="tanh") * expert_rise, down_expert)
    joined = rms(first) * post_dense + rms(second) * post_expert
    return (x + rms(joined) * post_mlp) * scalar, own_keys, own_values


def _values_are_keys(qkv: Tensor, num_query: int, head_size: int) -> bool:
    # With one key head, the rows beyond the queries are one head's (values are keys) or two.
    return (qkv.shape[0] - num_query) == head_size
