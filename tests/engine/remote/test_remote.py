"""The preset `remote`: against our own gateway as a real server, and against recorded shapes of others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from midfill_engine import api
from midfill_engine.api import (
    Draft,
    Engine,
    EngineError,
    EngineOptions,
    EngineState,
    EngineUnavailable,
    FillRequest,
    Finish,
    Limits,
    Mode,
    PresetError,
    RemoteKind,
    Snippet,
)
from midfill_engine.remote.engine import RemoteEngine
from midfill_engine.remote.place import Place, place_of
from support.gateway import gateway_at
from support.remote_server import RemoteServer, serving
from support.scripted import PATIENCE_S, Answer, Gate, ScriptedEngine

KINDS_OF_GATEWAY = [RemoteKind.LLAMA_CPP, RemoteKind.COMPLETIONS]
REQUEST = FillRequest(prefix="import os\n\ndef f(a):\n    return ", suffix="\n\nprint(f(1))\n", language="python")

# As vLLM streams a chat: a role first, then pieces, then the reason, then usage without choices.
VLLM_CHAT = [
    '{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}',
    '{"id":"c","choices":[{"index":0,"delta":{"content":"```python\\n"},"finish_reason":null}]}',
    '{"id":"c","choices":[{"index":0,"delta":{"content":"a + 1"},"finish_reason":null}]}',
    '{"id":"c","choices":[{"index":0,"delta":{"content":"\\n```"},"finish_reason":"stop"}]}',
    '{"id":"c","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}',
    "[DONE]",
]
# As Mercury answers without a stream.
MERCURY_CHAT = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "mercury-coder",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "a + 1"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
}
# As llama.cpp's server streams an infill with n_probs.
LLAMA_INFILL = [
    '{"index":0,"content":"a","tokens":[64],"stop":false,"completion_probabilities":[{"id":64,"token":"a","logprob":-0.5}]}',
    '{"index":0,"content":" + 1","stop":false,"completion_probabilities":[{"id":65,"token":" + 1","logprob":-1.5}]}',
    '{"index":0,"content":"","stop":true,"stop_type":"eos","tokens_predicted":2,"timings":{"predicted_n":2}}',
]


@asynccontextmanager
async def remote(url: str, kind: RemoteKind, key: str = "", model: str = "m") -> AsyncIterator[RemoteEngine]:
    place = Place(url=url, kind=kind, key=key, model=model)
    engine = RemoteEngine(EngineOptions(preset="remote", remote_url=url, remote_kind=kind), place)
    try:
        yield engine
    finally:
        await engine.aclose()


async def fill(server: RemoteServer, kind: RemoteKind, request: FillRequest = REQUEST) -> api.FillResult:
    async with serving(server) as url, remote(url, kind, key="secret") as engine:
        return await engine.fill(request)


@pytest.mark.parametrize("kind", KINDS_OF_GATEWAY)
async def test_a_gateway_is_a_server_like_others(kind: RemoteKind) -> None:
    behind = ScriptedEngine(default=lambda request: Answer(text=f"a + {request.seed}"))
    async with gateway_at(behind) as url, remote(url, kind) as engine:
        request = FillRequest(
            prefix=REQUEST.prefix,
            suffix=REQUEST.suffix,
            language="python",
            num_candidates=3,
            seed=5,
            snippets=(Snippet(path="b.py", text="B = 1"),),
        )
        result = await engine.fill(request)
        status = await engine.status()
    assert {candidate.text for candidate in result.candidates} == {"a + 5", "a + 6", "a + 7"}
    assert {(asked.prefix, asked.suffix) for asked in behind.requests} == {(REQUEST.prefix, REQUEST.suffix)}
    assert (result.finish, status.state) == (Finish.COMPLETE, EngineState.READY)
    if kind is RemoteKind.LLAMA_CPP:
        assert behind.requests[0].snippets == request.snippets


@pytest.mark.parametrize("kind", KINDS_OF_GATEWAY)
async def test_cancelling_reaches_the_engine_behind_before_its_next_step(kind: RemoteKind) -> None:
    behind = ScriptedEngine([Answer(num_steps=9, gate=Gate(before_step=3))])
    async with gateway_at(behind) as url, remote(url, kind) as engine:
        filling = asyncio.create_task(engine.fill(REQUEST))
        await behind.wait_until(lambda behind: behind.num_steps == 2)
        filling.cancel()
        await behind.wait_until(lambda behind: behind.num_cancelled == 1)
    assert behind.num_steps == 2


async def test_cancelling_closes_the_connection_in_the_middle_of_an_answer() -> None:
    server = RemoteServer(events=LLAMA_INFILL[:1], is_open=True)
    async with serving(server) as url, remote(url, RemoteKind.LLAMA_CPP) as engine:
        filling = asyncio.create_task(engine.fill(REQUEST))
        async with asyncio.timeout(PATIENCE_S):
            await server.said.wait()
            filling.cancel()
            await server.left.wait()


@pytest.mark.parametrize("kind", list(RemoteKind))
async def test_what_comes_back_is_read_out_as_a_local_fill_is(kind: RemoteKind) -> None:
    """A stranger's model repeats the lines that follow, as our own do."""
    echo = "a + 1\n\nprint(f(1))\n"
    said = {
        RemoteKind.LLAMA_CPP: json.dumps({"content": echo, "stop": True}),
        RemoteKind.COMPLETIONS: json.dumps({"choices": [{"text": echo, "finish_reason": "stop"}]}),
        RemoteKind.CHAT: json.dumps({"choices": [{"delta": {"content": echo}}]}),
    }
    request = FillRequest(prefix=REQUEST.prefix, suffix=REQUEST.suffix, mode=Mode.BLOCK)
    assert (await fill(RemoteServer(events=[said[kind]]), kind, request)).text == "a + 1"


async def test_what_would_break_the_text_is_not_offered() -> None:
    server = RemoteServer(events=[json.dumps({"content": "pass", "stop": True})])
    assert (await fill(server, RemoteKind.LLAMA_CPP)).candidates == ()


async def test_a_chat_server_is_told_the_hole_in_words() -> None:
    server = RemoteServer(events=VLLM_CHAT)
    assert (await fill(server, RemoteKind.CHAT)).text == "a + 1"
    [(path, headers, body)] = server.asked
    assert (path, headers["authorization"], body["model"]) == ("/v1/chat/completions", "Bearer secret", "m")
    assert f"{REQUEST.prefix}<HOLE>{REQUEST.suffix}" in body["messages"][1]["content"]


async def test_a_chat_server_that_does_not_stream() -> None:
    assert (await fill(RemoteServer(plain=MERCURY_CHAT), RemoteKind.CHAT)).text == "a + 1"


async def test_thoughts_are_no_middle() -> None:
    content = "<think>a hole, <HOLE>\nhm</think>\n\na + 1"
    plain = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    assert (await fill(RemoteServer(plain=plain), RemoteKind.CHAT)).text == "a + 1"


async def test_confidence_is_the_mean_of_what_the_server_tells() -> None:
    result = await fill(RemoteServer(events=LLAMA_INFILL), RemoteKind.LLAMA_CPP)
    assert result.text == "a + 1"
    assert result.candidates[0].confidence == pytest.approx(0.3679, abs=1e-4)  # exp of (-0.5 - 1.5) / 2


async def test_a_server_that_tells_no_probabilities_is_asked_without() -> None:
    server = RemoteServer(
        events=['{"choices":[{"text":"a"}]}'], refusals=[(400, {"error": {"message": "no logprobs"}})]
    )
    assert (await fill(server, RemoteKind.COMPLETIONS)).text == "a"
    assert ["logprobs" in body for _, _, body in server.asked] == [True, False]


async def test_at_the_deadline_what_was_said_so_far_is_given() -> None:
    server = RemoteServer(events=['{"content":"a + 1","stop":false}'], is_open=True)
    request = FillRequest(prefix=REQUEST.prefix, suffix=REQUEST.suffix, limits=Limits(deadline_s=0.5))
    async with serving(server) as url, remote(url, RemoteKind.LLAMA_CPP) as engine:
        result = await engine.fill(request)
        await asyncio.wait_for(server.left.wait(), PATIENCE_S)
    assert (result.text, result.finish) == ("a + 1", Finish.DEADLINE)


async def test_a_line_that_is_complete_ends_the_work() -> None:
    server = RemoteServer(events=['{"content":"a + 1\\nb","stop":false}'], is_open=True)
    async with serving(server) as url, remote(url, RemoteKind.LLAMA_CPP) as engine:
        result = await asyncio.wait_for(engine.fill(FillRequest(prefix="a = ", suffix="", mode=Mode.LINE)), PATIENCE_S)
        await asyncio.wait_for(server.left.wait(), PATIENCE_S)
    assert result.text == "a + 1"


async def test_drafts_grow_as_the_answer_does() -> None:
    drafts: list[Draft] = []
    server = RemoteServer(events=LLAMA_INFILL)
    async with serving(server) as url, remote(url, RemoteKind.LLAMA_CPP) as engine:
        await engine.fill(REQUEST, drafts.append)
    assert [draft.text for draft in drafts] == ["a", "a + 1"]


async def test_several_holes_are_filled_one_after_the_other() -> None:
    server = RemoteServer(events=['{"content":"1","stop":true}'])
    request = FillRequest(prefix="a = ", between=("\nb = ",), suffix="\n", language="python")
    result = await fill(server, RemoteKind.LLAMA_CPP, request)
    assert result.candidates[0].texts == ("1", "1")
    assert [body["prompt"] for _, _, body in server.asked] == ["a = ", "b = "]
    assert server.asked[1][2]["input_prefix"] == "a = 1\n"


@pytest.mark.parametrize(
    ("status", "body", "kind", "reason"),
    [
        (401, {"error": {"message": "bad key"}}, PresetError, "refuses the key .bad key.: set MIDFILL_REMOTE_KEY"),
        (404, {"detail": "Not Found"}, PresetError, "check remoteUrl, remoteKind"),
        (429, {"error": "slow\ndown"}, EngineUnavailable, "is busy .slow down."),
        (503, {}, EngineUnavailable, "is busy"),
        (500, {"error": {"message": "boom"}}, EngineError, "refuses .boom."),
    ],
)
async def test_a_refusal_says_what_to_do(status: int, body: Any, kind: type[EngineError], reason: str) -> None:
    with pytest.raises(kind, match=reason):
        await fill(RemoteServer(refusals=[(status, body)] * 2), RemoteKind.CHAT)


async def test_an_error_in_the_middle_of_a_stream_is_told() -> None:
    with pytest.raises(EngineError, match="the server failed: boom"):
        await fill(RemoteServer(events=['{"error":{"message":"boom"}}']), RemoteKind.LLAMA_CPP)


async def test_an_answer_of_another_kind_is_told() -> None:
    with pytest.raises(EngineError, match="cannot be understood"):
        await fill(RemoteServer(plain="<html>"), RemoteKind.LLAMA_CPP)


async def test_nobody_there_is_unavailable() -> None:
    async with remote("http://127.0.0.1:9", RemoteKind.LLAMA_CPP) as engine:
        with pytest.raises(EngineUnavailable, match=r"127\.0\.0\.1 cannot be reached"):
            await engine.fill(REQUEST)
        with pytest.raises(EngineUnavailable, match="cannot be reached"):
            await engine.status()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_loopback_never_sees_a_proxy(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With HTTP_PROXY set for the world outside, a model on this machine was asked through it."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server = RemoteServer(events=LLAMA_INFILL)
    async with serving(server) as url, remote(url.replace("127.0.0.1", host), RemoteKind.LLAMA_CPP) as engine:
        assert (await engine.fill(REQUEST)).text == "a + 1"


async def test_others_are_asked_through_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = RemoteServer(events=LLAMA_INFILL)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with serving(proxy) as url:
        monkeypatch.setenv("HTTP_PROXY", url)
        monkeypatch.setenv("http_proxy", url)
        async with remote("http://models.example:8012", RemoteKind.LLAMA_CPP) as engine:
            assert (await engine.fill(REQUEST)).text == "a + 1"
    assert proxy.asked[0][1]["host"] == "models.example:8012"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"url": "models.example"}, "remoteUrl must be like"),
        ({"url": "file:///etc/passwd"}, "remoteUrl must be like"),
        ({"url": "https://me:secret@models.example"}, "must not hold a key"),
        ({"url": "http://models.example", "key": "secret"}, "in clear: use https"),
    ],
)
def test_a_place_that_is_not_right_is_refused(fields: dict[str, str], reason: str) -> None:
    with pytest.raises(PresetError, match=reason):
        Place(kind=RemoteKind.CHAT, **fields)


def test_a_place_comes_from_settings_and_its_key_from_the_environment() -> None:
    options = EngineOptions(preset="remote", remote_url="https://models.example/v1/", remote_kind=RemoteKind.CHAT)
    environ = {
        "MIDFILL_REMOTE_KEY": "secret\n",
        "MIDFILL_REMOTE_URL": "http://elsewhere",
        "MIDFILL_REMOTE_KIND": "chat",
    }
    place = place_of(options, environ)
    assert (place.url, place.key) == ("https://models.example/v1", "secret")
    assert place.path("/v1/models") == "https://models.example/v1/models"


def test_a_shell_may_name_the_place_in_its_environment() -> None:
    environ = {
        "MIDFILL_REMOTE_URL": "http://127.0.0.1:1",
        "MIDFILL_REMOTE_KIND": "completions",
        "MIDFILL_REMOTE_KEY": "",
    }
    place = place_of(EngineOptions(preset="remote"), environ)
    assert (place.url, place.kind) == ("http://127.0.0.1:1", RemoteKind.COMPLETIONS)
    with pytest.raises(PresetError, match="remoteKind must be one of"):
        place_of(EngineOptions(preset="remote"), environ | {"MIDFILL_REMOTE_KIND": "telepathy"})
    with pytest.raises(PresetError, match="set remoteUrl, or MIDFILL_REMOTE_URL"):
        place_of(EngineOptions(preset="remote"), {})


async def test_the_api_opens_a_remote_engine_by_its_preset() -> None:
    behind = ScriptedEngine(default=Answer(text="a + 1"))
    async with gateway_at(behind) as url:
        options = EngineOptions(preset="remote", remote_url=url)
        status = await api.start_engine(options)
        engines: list[Engine] = [api.connect(options), api.open_local(options)]
        for engine in engines:
            assert (await engine.fill(REQUEST)).text == "a + 1"
            await engine.aclose()
    assert status.state is EngineState.READY
    assert await api.stop_engine(options) == 0
