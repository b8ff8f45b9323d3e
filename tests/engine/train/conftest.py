"""`tiny`: a tiny model, tokenizer and corpus for the training tests."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pytest
from tokenizers import Tokenizer
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion, DiffusionGemmaTextConfig

from midfill_engine.train import weights
from midfill_engine.train.shards import Shard, save_shard, tokenize
from midfill_engine.train.state import export
from midfill_engine.train.tokenizer import save_tokenizer, train_tokenizer

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


class Tiny:
    """Everything small that a test may want; made once a session."""

    @cached_property
    def texts(self) -> list[str]:
        """A handful of small files, each different."""
        names = ("circle", "square", "road", "river")
        return [SOURCE.format(name=name, Name=name.title(), number=number) for number, name in enumerate(names)]

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """A tokenizer trained on the files."""
        return train_tokenizer(self.texts, 512)

    @cached_property
    def shard(self) -> Shard:
        """The files as a shard."""
        return tokenize(self.texts, self.tokenizer)

    def model(self, hidden: int = 64, layers: int = 2) -> DiffusionGemmaForBlockDiffusion:
        """Fresh weights."""
        return weights.fresh(config(hidden, layers), seed=0)

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Shards and a model folder under `folder`, as a run wants them."""
        shards, start, tokenizer = folder / "shards", folder / "start", folder / "tokenizer"
        save_tokenizer(self.tokenizer, tokenizer)
        export(self.model(), tokenizer, start)
        for split in ("train", "dev"):
            save_shard(self.shard, shards, split)
        return shards, start


@pytest.fixture(scope="session")
def tiny() -> Tiny:
    return Tiny()


def config(hidden: int, layers: int) -> DiffusionGemmaConfig:
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
