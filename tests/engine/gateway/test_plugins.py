"""The requests that plugins really send, field by field as in their sources, and what they read from the answer.

Sources: ggml-org/llama.vim autoload/llama.vim; ggml-org/llama.vscode src/llama-server.ts; zed-industries/zed
crates/edit_prediction (fim, open_ai_compatible); twinnydotdev/twinny fim-dialects.ts and fim-templates.ts;
continuedev/continue AutocompleteTemplate.ts, LlamaCpp.ts, openai-adapters OpenAI.ts; milanglacier/minuet-ai.nvim
lua/minuet/backends/openai_base.lua.
"""

from __future__ import annotations

import json
from typing import Any

from midfill_engine.api import FillRequest, Mode
from support.gateway import client_of
from support.scripted import Answer, ScriptedEngine

LLAMA_VIM: dict[str, Any] = {
    "input_prefix": "import os\n\n",
    "input_suffix": "):\n    return os.path.join(a, b)\n",
    "input_extra": [{"text": "def split(path): ...\n", "time": 1764567890.5, "filename": "paths.py"}],
    "prompt": "def join(",
    "n_predict": 128,
    "n_indent": 0,
    "top_k": 40,
    "top_p": 0.99,
    "stream": False,
    "samplers": ["top_k", "top_p", "infill"],
    "cache_prompt": True,
    "t_max_prompt_ms": 500,
    "t_max_predict_ms": 1000,
    "response_fields": [
        "content",
        "timings/prompt_n",
        "timings/prompt_ms",
        "timings/prompt_per_token_ms",
        "timings/prompt_per_second",
        "timings/predicted_n",
        "timings/predicted_ms",
        "timings/predicted_per_token_ms",
        "timings/predicted_per_second",
        "truncated",
        "tokens_cached",
    ],
}


async def ask(path: str, body: dict[str, Any], *answers: Answer) -> tuple[FillRequest, Any]:
    """What the engine was asked, and the answer's body (events of a stream as a list)."""
    engine = ScriptedEngine(answers)
    async with client_of(engine) as client:
        response = await client.post(path, json=body)
    assert response.status_code == 200, response.text
    [request] = engine.requests
    if response.headers["content-type"] == "text/event-stream":
        return request, [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    return request, response.json()


async def test_llama_vim_completes() -> None:
    request, said = await ask("/infill", LLAMA_VIM, Answer(text="a, b"))
    assert (request.prefix, request.suffix) == ("import os\n\ndef join(", LLAMA_VIM["input_suffix"])
    assert (request.limits.max_tokens, request.limits.deadline_s) == (128, 1.5)
    assert [(piece.path, piece.text) for piece in request.snippets] == [("paths.py", "def split(path): ...\n")]
    assert said["content"] == "a, b"
    assert set(said) == set(LLAMA_VIM["response_fields"])  # under these very names, as llama.vim looks them up


async def test_llama_vim_prepares_its_context_without_a_fill() -> None:
    """Its ring of chunks is sent for the server to cache, with nothing to predict: there is nothing to fill."""
    body = {
        "input_prefix": "",
        "input_suffix": "",
        "input_extra": LLAMA_VIM["input_extra"],
        "prompt": "",
        "n_predict": 0,
        "samplers": [],
        "cache_prompt": True,
        "t_max_prompt_ms": 1,
        "t_max_predict_ms": 1,
        "response_fields": [""],
    }
    engine = ScriptedEngine()
    async with client_of(engine) as client:
        response = await client.post("/infill", json=body)
    assert response.status_code == 200
    assert not engine.requests


async def test_llama_vscode_completes() -> None:
    body = {name: value for name, value in LLAMA_VIM.items() if name != "response_fields"} | {"n_indent": 4}
    text = "x = 1\n    y = 2\nz = 3"
    _, said = await ask("/infill", body | {"input_prefix": "def f():\n", "prompt": "    "}, Answer(text=text))
    assert said["content"] == "x = 1\n    y = 2"  # the line that leaves the block is not meant
    assert {"prompt_n", "prompt_ms", "prompt_per_second", "predicted_n", "predicted_ms"} <= set(said["timings"])
    assert said["tokens_cached"] == 0


async def test_zed_completes() -> None:
    stop = ["<|endoftext|>", "<|file_separator|>", "<|fim_pad|>", "<PRE>", "[PREFIX]"]
    prompt = "<|fim_prefix|>fn main() {\n    let x = <|fim_suffix|>;\n}\n<|fim_middle|>"
    body = {"model": "qwen2.5-coder", "prompt": prompt, "max_tokens": 64, "stop": stop}
    request, said = await ask("/v1/completions", body, Answer(text="1"))
    assert (request.prefix, request.suffix) == ("fn main() {\n    let x = ", ";\n}\n")
    assert said["choices"][0]["text"] == "1"
    assert isinstance(said["id"], str)
    assert isinstance(said["usage"]["completion_tokens"], int)


async def test_minuet_streams() -> None:
    body = {"model": "midfill", "stream": True, "max_tokens": 56, "top_p": 0.9, "prompt": "a = ", "suffix": "\nb = 2\n"}
    request, events = await ask("/v1/completions", body, Answer(text="1"))
    assert (request.prefix, request.suffix, request.limits.max_tokens) == ("a = ", "\nb = 2\n", 56)
    assert events[-1] == "[DONE]"
    assert "".join(json.loads(event)["choices"][0]["text"] for event in events[:-1]) == "1"


async def test_minuet_streams_as_from_codestral() -> None:
    body = {"model": "codestral-latest", "stream": True, "prompt": "a = ", "suffix": "\n"}
    _, events = await ask("/v1/fim/completions", body, Answer(text="1"))
    assert "".join(json.loads(event)["choices"][0]["delta"]["content"] for event in events[:-1]) == "1"


async def test_continue_streams_with_marks() -> None:
    body = {
        "model": "starcoder",
        "prompt": "<fim_prefix># Path: a.py\na = <fim_suffix>\nb = 2<fim_middle>",
        "max_tokens": 256,
        "temperature": 0.01,
        "stop": ["<fim_prefix>", "<file_sep>", "\n\n"],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    request, events = await ask("/v1/completions", body, Answer(text="1\n\nc"))
    assert (request.prefix, request.suffix, request.temperature) == ("# Path: a.py\na = ", "\nb = 2", 0.01)
    chunks = [json.loads(event) for event in events[:-1]]
    assert chunks[0]["choices"][0]["text"] == "1"  # cut at its stop string
    assert chunks[-1]["usage"]["total_tokens"] >= 0


async def test_continue_streams_as_from_llama_cpp() -> None:
    body = {
        "prompt": "<fim_prefix>a = <fim_suffix>\n<fim_middle>",
        "stream": True,
        "n_predict": 256,
        "stop": ["\n"],
        "temperature": 0.01,
    }
    request, events = await ask("/completion", body, Answer(text="1"))
    assert request.mode is Mode.LINE
    assert [json.loads(event)["content"] for event in events] == ["1", ""]
    assert json.loads(events[-1])["stop"] is True


async def test_twinny_streams() -> None:
    """Pointed at an "OpenAI compatible" server it sends Ollama's body, with the limits inside of `options`."""
    body = {
        "model": "qwen2.5-coder",
        "prompt": "<|fim_prefix|>a = <|fim_suffix|>\n<|fim_middle|>",
        "stream": True,
        "keep_alive": "5m",
        "options": {"temperature": 0.2, "num_predict": 512, "stop": ["<|endoftext|>", "\n\n"]},
    }
    request, events = await ask("/v1/completions", body, Answer(text="1\n\n2"))
    assert (request.limits.max_tokens, request.temperature) == (512, 0.2)
    assert json.loads(events[0])["choices"][0]["text"] == "1"


async def test_twinny_streams_as_from_llama_cpp() -> None:
    body = {
        "prompt": "<PRE> a =  <SUF> \n <MID>",
        "stream": True,
        "temperature": 0.2,
        "max_tokens": 77,
        "stop": ["<EOT>"],
    }
    request, events = await ask("/completion", body, Answer(text="1"))
    assert (request.prefix, request.limits.max_tokens) == ("a = ", 77)
    assert json.loads(events[0])["content"] == "1"
