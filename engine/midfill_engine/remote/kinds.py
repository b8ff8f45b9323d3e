"""How each kind of server is asked for a middle, and what a piece of its answer says. JSON values only.

Every kind is asked for a stream: a deadline then leaves what was said so far, and a line that is complete ends the
work. Servers that do not stream answer with one piece.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from midfill_engine.api import FillRequest, Mode, RemoteKind
from midfill_engine.remote.place import Place

PREFIX_REACH, SUFFIX_REACH = 16_000, 8_000  # code points of the text that are sent
_THOUGHT = re.compile(r"<think>.*?(</think>\s*|\Z)", re.DOTALL)
_FENCE = re.compile(r"\A\s*```[^\n]*\n(.*?)(\n?```.*)?\Z", re.DOTALL)
_TASK = (
    "You complete code. You are shown a file with a hole, marked {mark}. Answer with exactly the text that belongs in "
    "place of {mark}, so that it joins what stands before and after it: no explanation, no code fence, nothing of the "
    "text around it."
)


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One candidate that is wanted. `temperature` None: the server's own."""

    request: FillRequest
    mode: Mode
    seed: int
    temperature: float | None

    @property
    def prefix(self) -> str:
        text = self.request.prefix[-PREFIX_REACH:]
        is_cut = len(text) < len(self.request.prefix)
        return text[text.find("\n") + 1 :] if is_cut else text

    @property
    def suffix(self) -> str:
        return self.request.suffix[:SUFFIX_REACH]

    @property
    def stop(self) -> list[str]:
        return ["\n"] if self.mode is Mode.LINE else []


@dataclass(frozen=True, kw_only=True)
class Piece:
    """`log_probs` of its tokens, where the server tells them. `is_cut_off`: the token limit was reached."""

    text: str = ""
    log_probs: tuple[float, ...] = ()
    is_cut_off: bool = False


class Kind(Protocol):
    def url(self, place: Place) -> str: ...

    def body(self, ask: Ask, model: str, wants_log_probs: bool) -> dict[str, Any]: ...

    def piece(self, event: Mapping[str, Any]) -> Piece: ...

    def middle(self, said: str) -> str:
        """What of an answer is the middle."""
        ...


class Infill:
    """llama.cpp's `/infill`."""

    def url(self, place: Place) -> str:
        return place.path("/infill")

    def body(self, ask: Ask, model: str, wants_log_probs: bool) -> dict[str, Any]:
        lines, newline, before = ask.prefix.rpartition("\n")
        body = {
            "input_prefix": lines + newline,
            "input_suffix": ask.suffix,
            "input_extra": [{"filename": piece.path, "text": piece.text} for piece in ask.request.snippets],
            "prompt": before,
            "n_predict": ask.request.limits.max_tokens,
            "stop": ask.stop,
            "seed": ask.seed,
            "temperature": ask.temperature or 0.0,
            "cache_prompt": True,
            "stream": True,
        }
        return body | ({"n_probs": 1} if wants_log_probs else {})

    def piece(self, event: Mapping[str, Any]) -> Piece:
        told = event.get("completion_probabilities")
        found = [item.get("logprob") for item in told if isinstance(item, dict)] if isinstance(told, list) else []
        return Piece(
            text=_text(event.get("content")),
            log_probs=_numbers(found),
            is_cut_off=event.get("stop_type") == "limit" or event.get("stopped_limit") is True,
        )

    def middle(self, said: str) -> str:
        return said


class Completions:
    """OpenAI's `/v1/completions` with a suffix."""

    def url(self, place: Place) -> str:
        return place.url if place.url.endswith("/completions") else place.path("/v1/completions")

    def body(self, ask: Ask, model: str, wants_log_probs: bool) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": model,
            "prompt": ask.prefix,
            "suffix": ask.suffix,
            "max_tokens": ask.request.limits.max_tokens,
            "temperature": ask.temperature or 0.0,
            "seed": ask.seed,
            "stream": True,
        }
        if ask.stop:
            body["stop"] = ask.stop
        return body | ({"logprobs": 1} if wants_log_probs else {})

    def piece(self, event: Mapping[str, Any]) -> Piece:
        choice = _choice(event)
        told = choice.get("logprobs")
        found = told.get("token_logprobs") if isinstance(told, dict) else None
        return Piece(
            text=_text(choice.get("text")),
            log_probs=_numbers(found if isinstance(found, list) else []),
            is_cut_off=choice.get("finish_reason") == "length",
        )

    def middle(self, said: str) -> str:
        return said


class Chat:
    """A chat server, told what to fill in words. It may follow an instruction; whatever it adds is taken off."""

    def url(self, place: Place) -> str:
        return place.url if place.url.endswith("/completions") else place.path("/v1/chat/completions")

    def body(self, ask: Ask, model: str, wants_log_probs: bool) -> dict[str, Any]:
        mark = _mark_that_is_not_in(ask.prefix + ask.suffix)
        messages = [
            {"role": "system", "content": _TASK.format(mark=mark)},
            {"role": "user", "content": _question(ask, mark)},
        ]
        body = {
            "model": model,
            "messages": messages,
            "max_tokens": ask.request.limits.max_tokens,
            "seed": ask.seed,
            "stream": True,
        }
        return body | ({} if ask.temperature is None else {"temperature": ask.temperature})

    def piece(self, event: Mapping[str, Any]) -> Piece:
        choice = _choice(event)
        said = choice.get("delta") or choice.get("message")
        text = _text(said.get("content")) if isinstance(said, dict) else ""
        return Piece(text=text, is_cut_off=choice.get("finish_reason") == "length")

    def middle(self, said: str) -> str:
        said = _THOUGHT.sub("", said)
        fenced = _FENCE.match(said)
        return fenced[1] if fenced else said


KINDS: Mapping[RemoteKind, Kind] = {
    RemoteKind.LLAMA_CPP: Infill(),
    RemoteKind.COMPLETIONS: Completions(),
    RemoteKind.CHAT: Chat(),
}


def _question(ask: Ask, mark: str) -> str:
    request = ask.request
    parts = [f"From the file {piece.path}:\n{piece.text}" for piece in request.snippets]
    if request.instruction:
        parts.append(f"What to do: {request.instruction}")
    if request.selection:
        parts.append(f"{mark} stood for this before:\n{request.selection}")
    if ask.mode is Mode.LINE:
        parts.append("Only the rest of the line is wanted.")
    parts.append(f"The file{f' ({request.language})' if request.language else ''}:\n{ask.prefix}{mark}{ask.suffix}")
    return "\n\n".join(parts)


def _mark_that_is_not_in(text: str) -> str:
    mark = "<HOLE>"
    while mark in text:
        mark = f"<{mark[1:-1]}_>"
    return mark


def _choice(event: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = event.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _numbers(values: list[Any]) -> tuple[float, ...]:
    return tuple(float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool))
