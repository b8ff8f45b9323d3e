"""Making and loading the model that is trained: the class itself in fp32, its vision tower frozen.

The initialisation follows from two facts. The class multiplies normed queries and keys by 1.0, not by head_dim ** -0.5,
and starts both norms at 1: attention scores of standard deviation 8, one-hot and random, out of which a small model
does not find. So both norms start near head_dim ** -0.25. And the encoder's input is the embedding itself, while the
decoder's is normed: unit-RMS embeddings give both the same scale.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion

QK_SCALE = 1.1  # its square: standard deviation of the attention scores at the start
CONSTANT_UNITS = 16  # of the self-conditioning MLP, see mark_unknown_slots


def load(folder: Path) -> DiffusionGemmaForBlockDiffusion:
    """The weights of a model folder in fp32."""
    model: DiffusionGemmaForBlockDiffusion = DiffusionGemmaForBlockDiffusion.from_pretrained(
        folder, dtype=torch.float32
    )
    return model


def fresh(config: DiffusionGemmaConfig, seed: int) -> DiffusionGemmaForBlockDiffusion:
    """New weights for a configuration."""
    torch.manual_seed(seed)
    model = DiffusionGemmaForBlockDiffusion(config).float()
    text = config.text_config
    with torch.no_grad():
        nn.init.normal_(model.lm_head.weight, std=text.hidden_size**-0.5)
        for name, parameter in model.model.decoder.named_parameters():
            if "embed" in name:
                continue
            if "q_norm" in name or "k_norm" in name:
                nn.init.constant_(parameter, QK_SCALE * text.head_dim**-0.25)
            elif parameter.ndim >= 2:
                nn.init.normal_(parameter, std=0.5 * parameter.shape[-1] ** -0.5)
    mark_unknown_slots(model)
    return model


@torch.no_grad()
def mark_unknown_slots(model: DiffusionGemmaForBlockDiffusion, strength: float = 5.0, drive: float = 4.0) -> None:
    """Let a slot about which nothing is known look like a mask token from the start.

    At the first step a slot's input is a random token and its self-conditioning signal the mean embedding. The shared
    layers, trained causally at the same time, answer that random token with its usual successor: a strong wrong signal.
    So some units of the self-conditioning MLP are set to answer the mean embedding with one large constant vector,
    chosen where the head is least sensitive. It drowns the random token, since the class normalises the sum, while an
    embedding of one known token excites the units about a fifth as much. Training may change all of it.
    """
    block, embed = model.model.decoder.self_conditioning, model.model.decoder.embed_tokens
    signal = block.pre_norm(embed.weight.mean(0) * embed.embed_scale)
    quiet = torch.linalg.eigh(embed.weight.T @ embed.weight)[1][:, :CONSTANT_UNITS].sum(1)  # smallest eigenvalues first
    constant = quiet / quiet.square().mean().sqrt() * strength
    weakest = (block.down_proj.weight.norm(dim=0) * block.gate_proj.weight.norm(dim=1)).argsort()[:CONSTANT_UNITS]
    block.gate_proj.weight[weakest] = drive * signal / signal.square().sum()
    block.up_proj.weight[weakest] = drive * signal / signal.square().sum()
    block.down_proj.weight[:, weakest] = (constant / (CONSTANT_UNITS * drive**2))[:, None]
