"""The engine's one door: plain values and a Protocol.

Knows nothing of models, tensors, sockets or editors, and imports neither torch nor transformers, so that a language
server that imports it still starts in a blink. `connect` and `open_local` import what they need when they are called.

Texts are `str`; lengths of text are code points. Durations are seconds. Nothing in here is ever changed once made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from midfill_engine.errors import (
    EngineError,
    EngineUnavailable,
    PresetError,
    RequestError,
    ResourceError,
    WeightsError,
)

__all__ = [
    "Candidate",
    "Draft",
    "DraftToken",
    "Engine",
    "EngineError",
    "EngineOptions",
    "EngineState",
    "EngineStatus",
    "EngineUnavailable",
    "FillRequest",
    "FillResult",
    "Finish",
    "Limits",
    "Mode",
    "ModelCard",
    "PresetError",
    "RemoteKind",
    "RequestError",
    "ResourceError",
    "Snippet",
    "Timings",
    "WeightsError",
    "connect",
    "engine_statuses",
    "model_cards",
    "open_local",
    "runtime_directory",
    "start_engine",
    "stop_engine",
]


REMOTE = "remote"
"""The preset that is no model of ours."""


class Mode(StrEnum):
    """How far a middle may reach. `auto`: decided from the text around the hole."""

    LINE = "line"
    BLOCK = "block"
    AUTO = "auto"


class Finish(StrEnum):
    """Why a fill ended.

    complete: the model ended the middle itself. length: the token limit was reached. steps: the step cap was reached
    before the draft was stable. deadline: time was up, the best draft so far is given. empty: nothing worth offering
    came out. cancelled: the client gave up. superseded: a newer request for the same document took its place.
    """

    COMPLETE = "complete"
    LENGTH = "length"
    STEPS = "steps"
    DEADLINE = "deadline"
    EMPTY = "empty"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


class EngineState(StrEnum):
    """What an engine is doing."""

    LOADING = "loading"
    READY = "ready"
    BUSY = "busy"
    FAILED = "failed"


class RemoteKind(StrEnum):
    """What a server of the preset `remote` speaks: llama.cpp's `/infill`, OpenAI's `/v1/completions` with a suffix, or
    chat."""

    LLAMA_CPP = "llama.cpp"
    COMPLETIONS = "completions"
    CHAT = "chat"


@dataclass(frozen=True, kw_only=True)
class Snippet:
    """A piece of another file that may help."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of one fill. `max_tokens` slots of a hole, `max_steps` per canvas (None: the preset's), `deadline_s` from
    arrival, after which the best draft so far is read out (None: no deadline)."""

    max_tokens: int = 128
    max_steps: int | None = None
    deadline_s: float | None = None

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise RequestError(f"max_tokens must be 1 or more, got {self.max_tokens}")
        if self.max_steps is not None and self.max_steps < 1:
            raise RequestError(f"max_steps must be 1 or more, got {self.max_steps}")
        if self.deadline_s is not None and not self.deadline_s > 0:
            raise RequestError(f"deadline_s must be above 0, got {self.deadline_s}")


@dataclass(frozen=True, kw_only=True)
class FillRequest:
    """A hole and what surrounds it.

    `prefix` and `suffix` are all the text of the document before and after the hole, line ends as in the document.
    `client` and `document` name who asks and for what: of two requests with the same pair only the newer is finished
    (empty `document`: never superseded). `num_candidates` different drafts are made in one batch. `temperature` 0 is
    greedy, None the preset's own schedule. The same request with the same `seed` gives the same text on the same
    machine. `between` makes several holes of it: the texts that stand between each hole and the next, `prefix` before
    the first and `suffix` after the last; mode and limits hold for each hole. `selection` is the text that stood in the
    (first) hole and `instruction` what to do with it, for presets that can follow one.
    """

    prefix: str
    suffix: str = ""
    between: tuple[str, ...] = ()
    language: str = ""
    mode: Mode = Mode.AUTO
    limits: Limits = field(default_factory=Limits)
    num_candidates: int = 1
    seed: int = 0
    temperature: float | None = None
    snippets: tuple[Snippet, ...] = ()
    selection: str = ""
    instruction: str = ""
    client: str = ""
    document: str = ""
    request_id: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.num_candidates <= 16:
            raise RequestError(f"num_candidates must be 1 to 16, got {self.num_candidates}")
        if self.temperature is not None and not 0.0 <= self.temperature <= 2.0:
            raise RequestError(f"temperature must be 0 to 2, got {self.temperature}")
        if not 0 <= self.seed < 2**63:
            raise RequestError(f"seed must be 0 to 2**63 - 1, got {self.seed}")


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One middle. `confidence`: geometric mean of the probabilities of its tokens, 0 to 1 (not calibrated).

    `texts`: one for each hole, `text` the first; of several holes some may be empty, never all. `is_vetted`: the syntax
    gate has been asked about the text in its place and has nothing against it.
    """

    text: str
    confidence: float
    texts: tuple[str, ...] = ()
    is_vetted: bool = False

    def __post_init__(self) -> None:
        if not self.texts:
            object.__setattr__(self, "texts", (self.text,))
        if self.texts[0] != self.text:
            raise RequestError(f"text must be the first of texts, got {self.text!r} and {self.texts[0]!r}")


@dataclass(frozen=True, kw_only=True)
class DraftToken:
    """One slot of a draft as text; `is_locked`: accepted at this step, as opposed to about to be renoised."""

    text: str
    is_locked: bool


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The slots of the first row after a step (1-based), up to where the middle ends for now. `hole`: which of several
    holes, from 0."""

    step: int
    tokens: tuple[DraftToken, ...]
    hole: int = 0

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)


@dataclass(frozen=True, kw_only=True)
class Timings:
    """Seconds. `load` is 0 when the model was there already; `queue` is the wait for the model's thread."""

    load: float = 0.0
    queue: float = 0.0
    encode: float = 0.0
    denoise: float = 0.0
    total: float = 0.0


@dataclass(frozen=True, kw_only=True)
class FillResult:
    """Best candidate first, duplicates merged, none empty; no candidate unless something is worth offering.

    `num_steps`: passes of the denoiser. `num_tokens`: tokens of the best candidate. `num_cached`: prompt tokens that
    needed no encoding because they were known from an earlier request. `note`: for people, what was done otherwise than
    asked, said once when it begins. `spares`: further drafts that were made on the way, beyond those that were asked
    for, for who goes on to type something else than the best.
    """

    candidates: tuple[Candidate, ...]
    finish: Finish
    num_steps: int = 0
    num_tokens: int = 0
    num_prompt: int = 0
    num_cached: int = 0
    timings: Timings = field(default_factory=Timings)
    preset: str = ""
    note: str = ""
    spares: tuple[Candidate, ...] = ()

    @property
    def text(self) -> str:
        """The best candidate's text, or nothing."""
        return self.candidates[0].text if self.candidates else ""


@dataclass(frozen=True, kw_only=True)
class EngineStatus:
    """`progress` 0 to 1 while loading. `message` is for people. `memory`: resident bytes.
    `last_fill_s`: arrival to result of the last fill."""

    state: EngineState
    preset: str
    device: str = ""
    message: str = ""
    progress: float = 0.0
    pid: int = 0
    version: str = ""
    memory: int = 0
    idle_s: float = 0.0
    num_fills: int = 0
    num_steps: int = 0
    last_fill_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """How to run an engine. `preset` is a preset's name or a folder with a checkpoint. `num_threads` 0: torch's choice.

    `runtime_dir` None: the user's own runtime directory. `start` False: only use an engine that runs already.
    The preset `remote` is somebody else's server: `remote_url`, what it speaks, and which of its models is asked.
    """

    preset: str = "pocket"
    device: str = "auto"
    num_threads: int = 0
    idle_timeout_s: float = 900.0
    runtime_dir: Path | None = None
    start: bool = True
    remote_url: str = ""
    remote_kind: RemoteKind = RemoteKind.LLAMA_CPP
    remote_model: str = ""

    @property
    def is_remote(self) -> bool:
        return self.preset == REMOTE

    def __post_init__(self) -> None:
        if not self.idle_timeout_s > 0:
            raise PresetError(f"idle_timeout_s must be above 0, got {self.idle_timeout_s}")
        if self.num_threads < 0:
            raise PresetError(f"num_threads must be 0 or more, got {self.num_threads}")


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """A model one can choose. All texts are for people and may be empty; `fit`: whether it fits into this machine."""

    name: str
    description: str = ""
    size: str = ""
    licence: str = ""
    fit: str = ""
    can_instruct: bool = False


OnDraft = Callable[[Draft], None]
OnLoad = Callable[[float, str], None]
"""A share from 0 to 1 of a model's loading, and a word for people."""


class Engine(Protocol):
    """Whatever can fill: the model in this process, an engine process, or a scripted one in a test."""

    async def fill(self, request: FillRequest, on_draft: OnDraft | None = None) -> FillResult:
        """Fill the hole. Cancelling the awaiting task stops the work within one denoising step.

        `on_draft` is called on the caller's event loop once per step while the block develops.

        Raises:
            EngineError: one of the family in `errors`, with a message for the user.
        """
        ...

    async def status(self) -> EngineStatus:
        """What the engine is doing; quick even while it fills."""
        ...

    async def aclose(self) -> None:
        """Let go of the engine. A shared engine process lives on by its own idle rule."""
        ...


def connect(options: EngineOptions | None = None) -> Engine:
    """An engine process shared by all of the user's clients: found by its socket, started when needed."""
    options = options or EngineOptions()
    if options.is_remote:
        return _remote(options)
    client = import_module("midfill_engine.service.client")
    return cast(Engine, client.ServiceEngine(options))


def open_local(options: EngineOptions | None = None) -> Engine:
    """The model in this very process, loaded at the first fill. Imports torch."""
    options = options or EngineOptions()
    if options.is_remote:
        return _remote(options)
    local = import_module("midfill_engine.local")
    return cast(Engine, local.LocalEngine(options))


def model_cards(names: Iterable[str] = ()) -> tuple[ModelCard, ...]:
    """What is known of the presets, and of `names`, which may be folders, without loading any of them."""
    cards = import_module("midfill_engine.cards")
    return cast(tuple[ModelCard, ...], cards.model_cards(names))


async def engine_statuses(options: EngineOptions | None = None) -> tuple[EngineStatus, ...]:
    """What all of the user's engine processes are doing, whatever their preset or version."""
    return await _fleet().statuses(options or EngineOptions())


def runtime_directory(options: EngineOptions | None = None) -> Path:
    """Where the user's engines and their clients find each other; it is made if it is missing.

    Raises:
        EngineUnavailable: it cannot be made, or is not the user's alone.
    """
    places = import_module("midfill_engine.service.places")
    return cast(Path, places.engine_directory(options or EngineOptions()))


async def start_engine(options: EngineOptions | None = None, on_load: OnLoad | None = None) -> EngineStatus:
    """Start the engine process of these options unless it runs, and wait until its model is loaded.

    Raises:
        EngineError: what hinders it.
    """
    options = options or EngineOptions()
    return await (_reach(options) if options.is_remote else _fleet().start(options, on_load))


async def stop_engine(options: EngineOptions | None = None, every: bool = False) -> int:
    """Stop the engine process of these options, or all of the user's; how many were stopped."""
    return await _fleet().stop(options or EngineOptions(), every)


def _remote(options: EngineOptions) -> Engine:
    return cast(Engine, import_module("midfill_engine.remote.engine").RemoteEngine(options))


async def _reach(options: EngineOptions) -> EngineStatus:
    """Nothing is started of a remote engine: it is there or it is not."""
    engine = _remote(options)
    try:
        return await engine.status()
    finally:
        await engine.aclose()


class _Fleet(Protocol):
    async def statuses(self, options: EngineOptions) -> tuple[EngineStatus, ...]: ...

    async def start(self, options: EngineOptions, on_progress: OnLoad | None) -> EngineStatus: ...

    async def stop(self, options: EngineOptions, every: bool) -> int: ...


def _fleet() -> _Fleet:
    return cast(_Fleet, import_module("midfill_engine.service.fleet"))
