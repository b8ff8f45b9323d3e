"""A mixture of one expert is a second dense MLP: nothing has to be routed.

transformers routes it all the same (top-k of one, one-hot masks, index_add), which costs a small model more time than
the expert itself. `make_lone_experts_dense` takes that detour out; models with several experts are left alone.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn
from transformers import DiffusionGemmaForBlockDiffusion
from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS

_NAME = "midfill_lone_expert"


def _expert(self: Any, hidden: Tensor, top_k_index: Tensor, top_k_weights: Tensor) -> Tensor:
    del top_k_index
    gate, up = nn.functional.linear(hidden, self.gate_up_proj[0]).chunk(2, dim=-1)
    out: Tensor = nn.functional.linear(self.act_fn(gate) * up, self.down_proj[0]) * top_k_weights.to(hidden.dtype)
    return out


def _route(self: Any, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The softmax over one expert is 1, so that only the learned scale is left: [T, 1] each."""
    ones = hidden.new_ones(hidden.shape[0], 1, dtype=torch.float32)
    return ones, ones * self.per_expert_scale, torch.zeros_like(ones, dtype=torch.long)


def make_lone_experts_dense(model: DiffusionGemmaForBlockDiffusion) -> None:
    """Replace routing by a dense path in every layer, if the model has one expert."""
    if model.config.text_config.num_experts != 1:
        return
    ALL_EXPERTS_FUNCTIONS.register(_NAME, _expert)
    model.set_experts_implementation(_NAME)
    for stack in (model.model.encoder.language_model, model.model.decoder):
        for layer in stack.layers:
            layer.router.forward = MethodType(_route, layer.router)
