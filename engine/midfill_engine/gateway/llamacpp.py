"""llama.cpp's own API: `/infill`, and `/completion` with marks in its prompt.

What llama.vim and llama.vscode send is in the tests, with its source. Their `prompt` is the part of the cursor's line
before it, `input_prefix` the lines above. Time limits count from the request's arrival here: prompt and prediction are
one thing to a diffusion model, so both together are the deadline. Samplers are of other models and ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from midfill_engine.api import FillRequest, Limits, Mode, Snippet
from midfill_engine.errors import RequestError
from midfill_engine.gateway.ask import Answer, Ask, num_tokens_of
from midfill_engine.gateway.fields import Fields
from midfill_engine.gateway.fim import Hole, read_prompt

_ERROR_TYPES = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error"}


class LlamaCpp:
    """`is_infill`: the hole comes as prefix and suffix, not inside of the prompt."""

    def __init__(self, *, is_infill: bool) -> None:
        self._is_infill = is_infill

    def read(self, body: bytes) -> Ask:
        fields = Fields.of(body)
        num_tokens = fields.whole("n_predict")
        if num_tokens is None:
            num_tokens = fields.whole("max_tokens")  # Twinny calls it so here too
        hole = _infill(fields) if self._is_infill else read_prompt(fields.text("prompt"), "")
        stop = fields.texts("stop")
        return Ask(
            request=None if num_tokens == 0 else _request(fields, hole, num_tokens, stop),
            fields=fields,
            stop=stop,
            num_indent=max(0, fields.whole("n_indent") or 0),
            is_stream=fields.flag("stream"),
        )

    def answer(self, ask: Ask, answer: Answer) -> dict[str, Any]:
        return _picked(_whole_answer(answer), ask.fields.texts("response_fields"))

    def events(self, ask: Ask, answer: Answer) -> Iterator[str]:
        whole = _whole_answer(answer)
        yield json.dumps({"index": 0, "content": whole["content"], "stop": False})
        yield json.dumps(_picked(whole | {"content": ""}, ask.fields.texts("response_fields")))

    def error(self, message: str, status: int) -> dict[str, Any]:
        kind = "unavailable_error" if status == 503 else _ERROR_TYPES.get(status, "server_error")
        return {"error": {"code": status, "message": message, "type": kind}}


def _infill(fields: Fields) -> Hole:
    extra = [
        Snippet(path=item.text("filename"), text=item.text("text"))
        for item in fields.objects("input_extra")
        if item.text("text").strip()
    ]
    if fields.get("input_prefix") is None or fields.get("input_suffix") is None:
        raise RequestError('"input_prefix" and "input_suffix" are required')
    prefix = fields.text("input_prefix") + fields.text("prompt")
    return Hole(prefix=prefix, suffix=fields.text("input_suffix"), snippets=tuple(extra))


def _request(fields: Fields, hole: Hole, num_tokens: int | None, stop: tuple[str, ...]) -> FillRequest:
    seed = fields.whole("seed")
    limits_ms = [fields.number("t_max_prompt_ms") or 0, fields.number("t_max_predict_ms") or 0]
    total_ms = sum(limit for limit in limits_ms if limit > 0)
    return FillRequest(
        prefix=hole.prefix,
        suffix=hole.suffix,
        snippets=hole.snippets,
        mode=Mode.LINE if "\n" in stop else Mode.AUTO,
        limits=Limits(max_tokens=num_tokens_of(num_tokens), deadline_s=total_ms / 1000 if total_ms else None),
        seed=seed if seed is not None and seed >= 0 else 0,
        temperature=fields.number("temperature"),
    )


def _whole_answer(answer: Answer) -> dict[str, Any]:
    middle, result = answer.middles[0], answer.result
    stop_type = "word" if middle.stop_word else "limit" if middle.is_cut_off else "eos"
    encode_s, denoise_s = result.timings.queue + result.timings.encode, result.timings.denoise
    return {
        "index": 0,
        "content": middle.text,
        "stop": True,
        "stop_type": stop_type,
        "stopping_word": middle.stop_word,
        "model": result.preset,
        "tokens_predicted": result.num_tokens,
        "tokens_evaluated": result.num_prompt,
        "tokens_cached": result.num_cached,
        "truncated": False,
        "timings": _timings("prompt", result.num_prompt - result.num_cached, encode_s)
        | _timings("predicted", result.num_tokens, denoise_s),
    }


def _timings(name: str, num_tokens: int, seconds: float) -> dict[str, Any]:
    """In milliseconds; no rate is infinite, since it is printed by the plugin."""
    return {
        f"{name}_n": num_tokens,
        f"{name}_ms": 1000 * seconds,
        f"{name}_per_token_ms": 1000 * seconds / max(1, num_tokens),
        f"{name}_per_second": num_tokens / seconds if seconds > 0 else 0.0,
    }


def _picked(answer: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Only the fields that are asked for: `timings/prompt_n` comes under that very name, as from llama.cpp."""
    if not names:
        return answer
    picked = {}
    for name in names:
        group, _, inner = name.partition("/")
        holder = answer.get(group)
        if inner and isinstance(holder, dict) and inner in holder:
            picked[name] = holder[inner]
        elif not inner and group in answer:
            picked[name] = holder
    return picked
