"""Named models: where their weights are, how they were trained, how they are best asked.

A preset is a name in the table below or a folder with a checkpoint; such a folder may hold a `midfill.json` with the
fields of `Preset` that differ from the defaults (the shipped model's folder does).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from midfill_engine.confidence import NUM_FACTS
from midfill_engine.errors import PresetError, WeightsError

_FILE = "midfill.json"


@dataclass(frozen=True, kw_only=True)
class Preset:
    """How one model is loaded and asked.

    source: folder of the checkpoint. family: `uniform` (noise is random tokens). null_token: the token that means
    "nothing here", if the model was trained with one. file_token: set before a prefix that begins its file.
    first_noise_id: ids below are specials, neither drawn as noise nor allowed in slots (but for the null).
    first_signal, conditioning: see `models.diffusion_gemma`. heals: see `heal`.
    line_slots, block_slots: slots of one canvas in each mode. tail, head: tokens pinned before and after them.
    canvas, max_holes: positions and holes of a canvas on which several holes are filled together, see `together`.
    context: prompt tokens in all; snippet_tokens, far_suffix_tokens, head_tokens, wish_tokens: how many of them at most
    are for other files, for what comes behind the head, for imports and signatures out of sight, and for what is wanted
    (where `can_instruct`), see `context`. max_steps to keeps_pace: see `denoise.loop.Policy`; line_steps: `max_steps`
    where only a line is asked for. has_causal_draft: see `causal`; beam_width, beam_lines: rows and lines of its
    search, see `beam`. calibration: weights, see `confidence`; without any, confidence is not calibrated.
    checks_syntax: drafts that break the text are not offered, see `correct`. can_instruct: follows an instruction.
    """

    name: str
    source: Path
    family: str = "uniform"
    description: str = ""
    licence: str = ""
    null_token: int | None = None
    file_token: int | None = None
    first_noise_id: int = 0
    first_signal: str = "zero"
    conditioning: str = "expected"
    heals: bool = True
    line_slots: int = 24
    block_slots: int = 48
    tail: int = 8
    head: int = 32
    context: int = 2048
    snippet_tokens: int = 512
    far_suffix_tokens: int = 256
    head_tokens: int = 192
    wish_tokens: int = 512
    canvas: int = 256
    max_holes: int = 8
    max_steps: int = 12
    entropy_bound: float = 0.1
    t_min: float = 0.4
    t_max: float = 0.8
    stability: int = 1
    confidence: float = 0.005
    is_held_free: bool = False
    keeps_pace: bool = False
    has_causal_draft: bool = False
    beam_width: int = 8
    beam_lines: int = 4
    calibration: tuple[float, ...] = ()
    line_steps: int | None = None
    checks_syntax: bool = True
    can_instruct: bool = False

    def __post_init__(self) -> None:
        for name in ("line_slots", "block_slots", "max_steps", "canvas", "max_holes", "beam_width", "beam_lines"):
            self._check(name, getattr(self, name) >= 1, "1 or more")
        budgets = ("snippet_tokens", "far_suffix_tokens", "head_tokens", "wish_tokens")
        for name in ("tail", "head", "first_noise_id", "stability", *budgets):
            self._check(name, getattr(self, name) >= 0, "0 or more")
        for name in ("null_token", "file_token"):
            self._check(name, (getattr(self, name) or 0) >= 0, "0 or more")
        for name in ("entropy_bound", "confidence"):
            self._check(name, 0 < getattr(self, name) < math.inf, "above 0")
        self._check("t_min", 0 <= self.t_min <= self.t_max, "0 or more, and at most t_max")
        self._check("t_max", self.t_max < math.inf, "a temperature")
        self._check("context", self.context > self.tail + 2, "more than tail + 2")
        self._check("family", self.family == "uniform", "uniform")
        self._check("first_signal", self.first_signal in ("zero", "mean"), "zero or mean")
        weights = self.calibration
        is_calibration = not weights or (len(weights) == NUM_FACTS and all(map(_is_finite_number, weights)))
        self._check("calibration", is_calibration, f"{NUM_FACTS} finite numbers, or none")
        self._check("line_steps", self.line_steps is None or self.line_steps >= 1, "1 or more")
        self._check("conditioning", self.conditioning in ("expected", "locked"), "expected or locked")

    def _check(self, name: str, is_right: bool, wanted: str) -> None:
        if not is_right:
            raise PresetError(f"preset {self.name}: {name} must be {wanted}, got {getattr(self, name)!r}")


def _is_finite_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def shipped_names() -> list[str]:
    """Names that need no download."""
    return ["pocket"]


def find_preset(name: str) -> Preset:
    """The preset called `name`, or made of the folder `name`.

    Raises:
        PresetError: neither a preset nor a folder, or its midfill.json is wrong.
        WeightsError: a folder that holds no checkpoint.
    """
    if name == "pocket":
        return _from_folder("pocket", Path(str(files("midfill_engine") / "pocket")))
    folder = _folder(name)
    if folder is not None:
        return _from_folder(folder.name or str(folder), folder)
    known = ", ".join(shipped_names())
    raise PresetError(f"no preset and no folder is called {name!r}; presets are: {known}")


def parts_of(preset: Preset) -> list[str]:
    """What of a preset can be switched off: parts that pay for themselves or do not, to be measured."""
    return sorted(field.name for field in fields(preset) if field.type == "bool" and getattr(preset, field.name))


def without(preset: Preset, parts: Sequence[str]) -> Preset:
    """The preset with parts switched off.

    Raises:
        PresetError: it has no such part.
    """
    for part in parts:
        if part not in parts_of(preset):
            raise PresetError(f"preset {preset.name} has no part {part!r}; parts are: {', '.join(parts_of(preset))}")
    return replace(preset, **dict.fromkeys(parts, False))  # type: ignore[arg-type]


def _folder(name: str) -> Path | None:
    try:
        folder = Path(name).expanduser()
    except RuntimeError:  # ~nobody
        return None
    return folder if name and folder.is_dir() else None


def _from_folder(name: str, folder: Path) -> Preset:
    if not (folder / "config.json").is_file():
        raise WeightsError(
            f"{folder} holds no model (config.json is missing): reinstall midfill or name another preset"
        )
    preset = Preset(name=name, source=folder)
    path = folder / _FILE
    return replace(preset, **_read(path)) if path.is_file() else preset


def _read(path: Path) -> dict[str, Any]:
    try:
        raw = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise PresetError(f"{path} cannot be read ({error}): mend it or remove it") from None
    if not isinstance(raw, dict):
        raise PresetError(f"{path} must hold an object of settings, got {type(raw).__name__}")
    allowed = {field.name: field.type for field in fields(Preset) if field.name not in ("name", "source")}
    unknown = sorted(set(raw) - set(allowed))
    if unknown:
        raise PresetError(f"{path}: unknown settings: {', '.join(unknown)}; known are: {', '.join(allowed)}")
    for key, value in raw.items():
        _check_type(path, key, value, str(allowed[key]))
    return {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}


def _check_type(path: Path, key: str, value: object, wanted: str) -> None:
    kinds: dict[str, tuple[type, ...]] = {
        "int": (int,),
        "int | None": (int, type(None)),
        "float": (int, float),
        "str": (str,),
        "bool": (bool,),
        "tuple[float, ...]": (list,),
    }
    is_stray_bool = isinstance(value, bool) and wanted != "bool"
    if is_stray_bool or not isinstance(value, kinds[wanted]):
        raise PresetError(f"{path}: {key} must be {wanted}, got {value!r}")
