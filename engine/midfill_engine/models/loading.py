"""From a preset to a model in memory: what is missing, broken or too big is said in one line before it hurts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import psutil
import torch
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion, PreTrainedTokenizerFast
from transformers.utils import logging as transformers_logging

from midfill_engine.core import OnProgress
from midfill_engine.errors import PresetError, ResourceError, WeightsError
from midfill_engine.models.base import BlockModel
from midfill_engine.models.dense import DenseStack, fits_dense_stack
from midfill_engine.models.diffusion_gemma import Conditioning, DiffusionGemma, FirstSignal
from midfill_engine.presets import Preset
from midfill_engine.tokens import TokenCodec

_HEADROOM = 300 * 2**20  # bytes beside the weights: caches, logits, the interpreter's own growth

ModelT = TypeVar("ModelT", bound=BlockModel, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Loaded(Generic[ModelT]):
    """A model, its vocabulary and its begin-of-text token."""

    model: ModelT
    codec: TokenCodec
    bos: int


FreeMemory = Callable[[torch.device], int]
"""Bytes that are free on a device."""


def free_memory(device: torch.device) -> int:
    """What the system says is free; for a GPU that shares the CPU's memory, what is free there."""
    if device.type in ("cpu", "mps"):
        return int(psutil.virtual_memory().available)
    return int(torch.accelerator.get_memory_info(device)[0])


def load(
    preset: Preset, device_name: str, on_progress: OnProgress, free_memory: FreeMemory = free_memory
) -> Loaded[DiffusionGemma]:
    """Load a checkpoint of the `uniform` family from the preset's folder.

    Raises:
        PresetError: it names a token that the model has not.
        WeightsError: missing, broken or of another architecture.
        ResourceError: no such device, or not enough memory.
    """
    device = choose_device(device_name)
    _check_architecture(preset.source / "config.json")
    weights = sorted(preset.source.glob("*.safetensors"))
    if not weights:
        raise WeightsError(f"{preset.source} holds no .safetensors weights: reinstall midfill or name another preset")
    dtype = torch.float32 if device.type == "cpu" else torch.bfloat16
    _check_memory(_HEADROOM + sum(_num_elements(path) for path in weights) * dtype.itemsize, free_memory(device))
    on_progress(0.1, "reading the vocabulary")
    codec, bos = _load_codec(preset)
    on_progress(0.3, "reading the weights")
    model = _load_model(preset, dtype, device)
    _check_tokens(preset, codec, model.lm_head.out_features)
    on_progress(1.0, "ready")
    return Loaded(model=wrap(model, preset), codec=codec, bos=bos)


def wrap(model: DiffusionGemmaForBlockDiffusion, preset: Preset) -> DiffusionGemma:
    """The model, run in the quickest way where it is and shown what it was trained to see."""
    stack, compute = None, None
    if fits_dense_stack(model):
        compute = torch.bfloat16 if has_bfloat16_units() else torch.float32
        stack = DenseStack(model, compute)
    return DiffusionGemma(
        model,
        FirstSignal(preset.first_signal),
        stack,
        table_dtype=compute,
        conditioning=Conditioning(preset.conditioning),
    )


def has_bfloat16_units() -> bool:
    """Whether this processor multiplies bfloat16 matrices faster than float32 ones (AMX tiles)."""
    return bool(torch.cpu._is_amx_tile_supported())  # torch offers no public question


def choose_device(name: str) -> torch.device:
    """The device called `name`; `auto` is the first accelerator that torch sees, else the CPU."""
    if name == "auto":
        accelerator = torch.accelerator.current_accelerator(check_available=True)
        return accelerator or torch.device("cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # `meta` makes tensors too, but holds nothing
    except Exception as error:
        reason = str(error).splitlines()[0]
        raise ResourceError(f"device {name!r} cannot be used ({reason}): try --device auto or cpu") from None
    return device


def _load_codec(preset: Preset) -> tuple[TokenCodec, int]:
    try:
        fast = PreTrainedTokenizerFast.from_pretrained(str(preset.source), local_files_only=True)
        tokenizer: Tokenizer = fast.backend_tokenizer
    except Exception as error:
        raise WeightsError(
            f"the tokenizer in {preset.source} cannot be read ({_first_line(error)}): reinstall midfill or the model"
        ) from None
    if fast.bos_token_id is None:
        raise WeightsError(
            f"the tokenizer in {preset.source} has no begin-of-text token: name it in tokenizer_config.json"
        )
    special = set(fast.all_special_ids) | set(range(preset.first_noise_id))
    special |= {i for i, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    return TokenCodec(tokenizer, frozenset(special)), int(fast.bos_token_id)


def _load_model(preset: Preset, dtype: torch.dtype, device: torch.device) -> DiffusionGemmaForBlockDiffusion:
    transformers_logging.disable_progress_bar()
    try:
        read: Any = DiffusionGemmaForBlockDiffusion.from_pretrained(
            str(preset.source), dtype=dtype, local_files_only=True, use_safetensors=True, output_loading_info=True
        )
        model: DiffusionGemmaForBlockDiffusion = read[0].to(device)
    except (MemoryError, torch.OutOfMemoryError):
        raise ResourceError(f"not enough memory for {preset.name}: close something or name a smaller preset") from None
    except Exception as error:  # a broken checkpoint fails anywhere in transformers, in any way
        raise WeightsError(
            f"the weights in {preset.source} cannot be read ({_first_line(error)}): reinstall midfill or the model"
        ) from None
    missing = sorted(read[1]["missing_keys"])
    if missing:
        raise WeightsError(
            f"the weights in {preset.source} are incomplete ({missing[0]} and {len(missing) - 1} more are missing): "
            "reinstall midfill or the model"
        )
    return model


def _check_architecture(path: Path) -> None:
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path} cannot be read ({_first_line(error)}): reinstall midfill or the model") from None
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind != DiffusionGemmaConfig.model_type:
        raise WeightsError(f"{path.parent} holds a {kind} model, which midfill cannot run: name another preset")


def _check_tokens(preset: Preset, codec: TokenCodec, vocab_size: int) -> None:
    """Every id that may come to the model must be one that it has an embedding for."""
    if codec.num_tokens > vocab_size:
        raise WeightsError(
            f"the tokenizer in {preset.source} has {codec.num_tokens} tokens and the model only {vocab_size}: "
            "they do not belong together"
        )
    for name in ("null_token", "file_token", "first_noise_id"):
        if (getattr(preset, name) or 0) >= codec.num_tokens:
            raise PresetError(f"preset {preset.name}: {name} must be below {codec.num_tokens}, the number of tokens")


def _check_memory(need: int, free: int) -> None:
    if need > free:
        raise ResourceError(
            f"the model needs {need / 2**30:.1f} GiB and {free / 2**30:.1f} GiB are free: "
            "close something or name a smaller preset"
        )


def _num_elements(path: Path) -> int:
    """Weights in a file, from its header alone."""
    try:
        with safe_open(str(path), framework="pt") as opened:
            return sum(_size(opened.get_slice(name).get_shape()) for name in opened.keys())  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise WeightsError(
            f"{path} is broken or incomplete ({_first_line(error)}): reinstall midfill or the model"
        ) from None


def _size(shape: list[int]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
