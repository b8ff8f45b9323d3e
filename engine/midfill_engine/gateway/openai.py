"""OpenAI's completions with a suffix, and Mistral's fill-in-the-middle, which answers in the shape of a chat.

Any model name is taken, since plugins choose their prompt's marks by it; the answer names the preset that filled.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

from midfill_engine.api import FillRequest, Limits, Mode
from midfill_engine.errors import RequestError
from midfill_engine.gateway.ask import Answer, Ask, Middle, num_tokens_of
from midfill_engine.gateway.fields import Fields
from midfill_engine.gateway.fim import read_prompt

DONE = "[DONE]"
_ERROR_TYPES = {400: "invalid_request_error", 401: "authentication_error", 404: "invalid_request_error"}


class OpenAI:
    """`is_chat`: choices hold messages, streamed ones deltas."""

    def __init__(self, *, is_chat: bool = False) -> None:
        self._is_chat = is_chat

    def read(self, body: bytes) -> Ask:
        fields = Fields.of(body)
        _refuse_what_is_not_given(fields)
        inner = fields.inner("options")  # Ollama's, which Twinny sends wherever it is pointed at
        stop = fields.texts("stop") or inner.texts("stop")
        return Ask(
            request=_request(fields, inner, stop),
            fields=fields,
            stop=stop,
            is_stream=fields.flag("stream"),
        )

    def answer(self, ask: Ask, answer: Answer) -> dict[str, Any]:
        choices = [self._choice(at, middle.text, _reason(middle)) for at, middle in enumerate(answer.middles)]
        return self._frame(answer, choices) | {"usage": _usage(answer)}

    def events(self, ask: Ask, answer: Answer) -> Iterator[str]:
        frame = self._frame(answer, [], is_stream=True)
        for at, middle in enumerate(answer.middles):
            if middle.text:
                yield json.dumps(frame | {"choices": [self._delta(at, middle.text, None)]})
            yield json.dumps(frame | {"choices": [self._delta(at, "", _reason(middle))]})
        if ask.fields.inner("stream_options").flag("include_usage"):
            yield json.dumps(frame | {"usage": _usage(answer)})
        yield DONE

    def error(self, message: str, status: int) -> dict[str, Any]:
        kind = _ERROR_TYPES.get(status, "server_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def _frame(self, answer: Answer, choices: list[Any], *, is_stream: bool = False) -> dict[str, Any]:
        chat = "chat.completion.chunk" if is_stream else "chat.completion"
        return {
            "id": f"cmpl-{uuid.uuid4().hex}",
            "object": chat if self._is_chat else "text_completion",
            "created": int(time.time()),
            "model": answer.result.preset,
            "choices": choices,
        }

    def _choice(self, at: int, text: str, reason: str) -> dict[str, Any]:
        said = {"message": {"role": "assistant", "content": text}} if self._is_chat else {"text": text}
        return {"index": at, **said, "logprobs": None, "finish_reason": reason}

    def _delta(self, at: int, text: str, reason: str | None) -> dict[str, Any]:
        said = {"delta": {"role": "assistant", "content": text}} if self._is_chat else {"text": text}
        return {"index": at, **said, "logprobs": None, "finish_reason": reason}


def _refuse_what_is_not_given(fields: Fields) -> None:
    if fields.flag("echo"):
        raise RequestError("echo is not supported: the prompt stands in your editor already")
    if fields.get("logprobs"):
        raise RequestError("logprobs are not supported: a diffusion model has none for single tokens")
    best_of = fields.whole("best_of")
    if best_of is not None and best_of != (fields.whole("n") or 1):
        raise RequestError("best_of is not supported: ask for n candidates, they come best first")


def _request(fields: Fields, inner: Fields, stop: tuple[str, ...]) -> FillRequest:
    hole = read_prompt(_prompt(fields), fields.text("suffix"))
    temperature = fields.number("temperature")
    num_tokens = fields.whole("max_tokens") or inner.whole("num_predict")
    num_candidates, seed = fields.whole("n"), fields.whole("seed")
    return FillRequest(
        prefix=hole.prefix,
        suffix=hole.suffix,
        snippets=hole.snippets,
        mode=Mode.LINE if "\n" in stop else Mode.AUTO,
        limits=Limits(max_tokens=num_tokens_of(num_tokens)),
        num_candidates=1 if num_candidates is None else num_candidates,
        seed=abs(seed or 0) % 2**63,
        temperature=inner.number("temperature") if temperature is None else temperature,
        client=fields.text("user"),
    )


def _prompt(fields: Fields) -> str:
    prompt = fields.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1:
        [prompt] = prompt
    if not isinstance(prompt, str):
        raise RequestError("prompt must be one text; tokens, and several prompts in one request, are not supported")
    return prompt


def _reason(middle: Middle) -> str:
    return "length" if middle.is_cut_off else "stop"


def _usage(answer: Answer) -> dict[str, int]:
    num_prompt, num_tokens = answer.result.num_prompt, answer.result.num_tokens
    return {"prompt_tokens": num_prompt, "completion_tokens": num_tokens, "total_tokens": num_prompt + num_tokens}
