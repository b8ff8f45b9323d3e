"""Tiny random DiffusionGemma models: the class itself, at a size that tests can afford."""

from __future__ import annotations

import torch
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion, DiffusionGemmaTextConfig

_VISION = {
    "model_type": "gemma4_vision",
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "global_head_dim": 16,
    "position_embedding_size": 16,
}


def tiny_config(
    *,
    vocab: int = 97,
    canvas: int = 12,
    experts: int = 1,
    top_k: int = 1,
    layers: int = 3,
    hidden: int = 32,
    window: int = 64,
    kv_heads: int = 2,
) -> DiffusionGemmaConfig:
    kinds = ["full_attention" if (i + 1) % 3 == 0 else "sliding_attention" for i in range(layers)]
    text = DiffusionGemmaTextConfig(
        vocab_size=vocab,
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        moe_intermediate_size=hidden,
        num_experts=experts,
        top_k_experts=top_k,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=kv_heads,
        head_dim=16,
        global_head_dim=16,
        num_global_key_value_heads=kv_heads,
        layer_types=kinds,
        sliding_window=window,
        max_position_embeddings=4096,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=2,
        rope_parameters={
            "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
            "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.5, "rope_theta": 10_000.0},
        },
    )
    return DiffusionGemmaConfig(
        text_config=text,
        vision_config=_VISION,
        canvas_length=canvas,
        boi_token_id=None,
        eoi_token_id=None,
        image_token_id=-1,  # generate compares with it, so None will not do
    )


def tiny_model(config: DiffusionGemmaConfig | None = None, seed: int = 0) -> DiffusionGemmaForBlockDiffusion:
    """Random weights strong enough that logits differ clearly between tokens."""
    torch.manual_seed(seed)
    model = DiffusionGemmaForBlockDiffusion(config or tiny_config()).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim >= 2 and "vision" not in name:
                parameter.normal_(std=1.2 * parameter.shape[-1] ** -0.5)
    return model


CONFIGS = {
    "dense": tiny_config(),
    "moe": tiny_config(experts=4, top_k=2, vocab=131, canvas=16),
    "short-window": tiny_config(window=8, layers=4, canvas=10),
}
