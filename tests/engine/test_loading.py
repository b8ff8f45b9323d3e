"""Every way a checkpoint can be wrong: the right error, in one line, that says what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from midfill_engine.errors import EngineError, PresetError, ResourceError, WeightsError
from midfill_engine.models.loading import FreeMemory, choose_device, free_memory, load
from midfill_engine.presets import Preset, find_preset
from support.tiny import tiny_config, tiny_model

VOCAB = 8192  # the shipped tokenizer's
POCKET = Path(str(files("midfill_engine"))) / "pocket"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint with nothing wrong: tiny weights and the shipped tokenizer."""
    folder = tmp_path_factory.mktemp("checkpoint")
    tiny_model(tiny_config(vocab=VOCAB, layers=1, hidden=16)).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(POCKET / name, folder)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "model"))


def quiet(_share: float, _what: str) -> None:
    pass


def load_from(folder: Path, device: str = "cpu", free: FreeMemory = free_memory, **changes: object):
    return load(Preset(name="tested", source=folder, **changes), device, quiet, free)  # type: ignore[arg-type]


def refused(kind: type[EngineError], attempt: Callable[[], object]) -> str:
    with pytest.raises(EngineError) as caught:
        attempt()
    assert type(caught.value) is kind
    message = str(caught.value)
    assert "\n" not in message
    assert 20 < len(message) < 600
    return message


def change_json(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_whole_checkpoint_loads(folder: Path) -> None:
    told: list[float] = []
    loaded = load(Preset(name="tested", source=folder), "cpu", lambda share, _: told.append(share))
    assert loaded.bos == 2
    assert loaded.model.vocab_size == VOCAB
    assert loaded.codec.num_tokens == VOCAB
    assert told == sorted(told)
    assert told[-1] == 1.0


@pytest.mark.parametrize(
    "weights",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x08\0\0\0\0\0\0\0{}", id="header cut"),
        pytest.param(b"<!DOCTYPE html><html>not found", id="a web page"),
        pytest.param(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", id="a git-lfs pointer"),
    ],
)
def test_weights_that_are_none(folder: Path, weights: bytes) -> None:
    (folder / "model.safetensors").write_bytes(weights)
    assert "reinstall" in refused(WeightsError, lambda: load_from(folder))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.999])
def test_a_download_that_broke_off(folder: Path, share: float) -> None:
    path = folder / "model.safetensors"
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * share)])
    assert "model.safetensors" in refused(WeightsError, lambda: load_from(folder))


def test_a_missing_tensor_is_named(folder: Path) -> None:
    """transformers makes up random weights for what is missing, and only says so in its log."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    gone = next(name for name in tensors if "layers.0" in name and "q_proj" in name)
    del tensors[gone]
    save_file(tensors, path, metadata={"format": "pt"})
    assert "q_proj" in refused(WeightsError, lambda: load_from(folder))


def test_a_tensor_of_another_shape(folder: Path) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    name = next(name for name in tensors if "q_proj" in name)
    tensors[name] = torch.zeros(3, 3)
    save_file(tensors, path, metadata={"format": "pt"})
    refused(WeightsError, lambda: load_from(folder))


def test_pickled_weights_are_never_read(folder: Path) -> None:
    """A pickle runs what its author likes."""
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    assert "safetensors" in refused(WeightsError, lambda: load_from(folder))


@pytest.mark.parametrize("raw", ["", "{", "[]", "null", '{"model_type": "qwen2"}', '{"model_type": []}', "{}"])
def test_a_config_of_something_else(folder: Path, raw: str) -> None:
    """transformers builds whatever class it was asked for out of another architecture's config."""
    (folder / "config.json").write_text(raw)
    message = refused(WeightsError, lambda: load_from(folder))
    assert "config.json" in message or "another preset" in message


def test_a_config_that_makes_no_sense(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["text_config"]["hidden_size"] = "wide"
    (folder / "config.json").write_text(json.dumps(config))
    refused(WeightsError, lambda: load_from(folder))


def test_no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    assert "tokenizer" in refused(WeightsError, lambda: load_from(folder))


@pytest.mark.parametrize("raw", ["", "{", "{}", "[]"])
def test_a_broken_tokenizer(folder: Path, raw: str) -> None:
    (folder / "tokenizer.json").write_text(raw)
    assert "tokenizer" in refused(WeightsError, lambda: load_from(folder))


def test_a_tokenizer_without_a_beginning(folder: Path) -> None:
    change_json(folder / "tokenizer_config.json", bos_token=None)
    assert "begin-of-text" in refused(WeightsError, lambda: load_from(folder))


def test_a_tokenizer_of_another_model(tmp_path: Path) -> None:
    """Its larger ids had no embedding: an IndexError in the middle of a fill."""
    tiny_model(tiny_config(vocab=97, layers=1, hidden=16)).save_pretrained(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(POCKET / name, tmp_path)
    message = refused(WeightsError, lambda: load_from(tmp_path))
    assert "8192" in message
    assert "97" in message


@pytest.mark.parametrize("name", ["null_token", "file_token", "first_noise_id"])
def test_a_preset_with_a_token_that_is_not_there(folder: Path, name: str) -> None:
    assert name in refused(PresetError, lambda: load_from(folder, **{name: VOCAB}))


@pytest.mark.parametrize("device", ["", "warp9", "cpu:x", "cuda:99", "meta", "cpu\n"])
def test_no_such_device(folder: Path, device: str) -> None:
    message = refused(ResourceError, lambda: load_from(folder, device))
    assert "auto" in message


def test_auto_is_a_device_that_works() -> None:
    assert torch.ones(1, device=choose_device("auto")).item() == 1.0


def test_too_little_memory_is_said_before_anything_is_read(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()  # reading on would fail otherwise
    message = refused(ResourceError, lambda: load_from(folder, free=lambda _: 10 * 2**20))
    assert "GiB" in message
    assert "smaller preset" in message


def test_free_memory_is_asked_of_the_device_that_is_used(folder: Path) -> None:
    asked: list[torch.device] = []
    load_from(folder, free=lambda device: asked.append(device) or 2**40)  # type: ignore[func-returns-value]
    assert asked == [torch.device("cpu")]
    assert free_memory(torch.device("cpu")) > 0


def test_the_shipped_model_loads() -> None:
    preset = find_preset("pocket")
    loaded = load(preset, "cpu", quiet)
    assert loaded.codec.special == frozenset(range(preset.first_noise_id))
