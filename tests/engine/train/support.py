"""A tiny model, a tiny tokenizer and a tiny corpus for the training tests."""

from __future__ import annotations

from midfill_engine.train.shards import Shard, tokenize
from midfill_engine.train.tokenizer import train_tokenizer
from tokenizers import Tokenizer
from transformers import DiffusionGemmaConfig, DiffusionGemmaTextConfig

PAD, EOS, BOS = 0, 1, 2

SOURCE = '''"""A module about {name}."""
import os


class {Name}:
    """Holds a {name}."""

    def __init__(self, size, kind="{name}"):
        self.size = size
        self.kind = kind  # of {name}
        self.parts = [size, {number}]

    def area(self, scale=1.0):
        # scaled
        total = self.size * self.size * scale
        return round(total, {number})

    def path(self, root):
        if not root:
            raise ValueError("no root for {name}")
        return os.path.join(root, self.kind, str(self.size))


def make_{name}(count):
    return [{Name}(index + {number}) for index in range(count)]
'''


def texts() -> list[str]:
    """A handful of small files, each different."""
    names = ("circle", "square", "road", "river")
    return [SOURCE.format(name=name, Name=name.title(), number=number) for number, name in enumerate(names)]


def tokenizer() -> Tokenizer:
    """A tokenizer trained on the files."""
    return train_tokenizer(texts(), 512)


def shard() -> Shard:
    """The files as a shard."""
    return tokenize(texts(), tokenizer())


def config(hidden: int = 64, layers: int = 2) -> DiffusionGemmaConfig:
    """The shipped model's architecture, smaller."""
    kinds = ["sliding_attention"] * (layers - 1) + ["full_attention"]
    text = DiffusionGemmaTextConfig(
        vocab_size=512, hidden_size=hidden, intermediate_size=2 * hidden, moe_intermediate_size=hidden, num_experts=1,
        top_k_experts=1, num_hidden_layers=layers, num_attention_heads=2, num_key_value_heads=1, head_dim=32,
        global_head_dim=32, num_global_key_value_heads=1, layer_types=kinds, sliding_window=1024,
        max_position_embeddings=2048, pad_token_id=PAD, eos_token_id=EOS, bos_token_id=BOS,
        rope_parameters={
            "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
            "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.5, "rope_theta": 10_000.0},
        },
    )  # fmt: skip
    vision = {
        "model_type": "gemma4_vision", "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1,
        "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 16, "global_head_dim": 16,
        "position_embedding_size": 16,
    }  # fmt: skip
    return DiffusionGemmaConfig(
        text_config=text,
        vision_config=vision,
        canvas_length=64,
        boi_token_id=None,
        eoi_token_id=None,
        image_token_id=None,
    )
