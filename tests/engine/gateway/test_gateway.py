"""What holds for every dialect: cancelling, being busy, errors in their own shape, who may ask, and hostile bodies."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import APIStatusError, AsyncOpenAI

from midfill_engine.api import EngineState, EngineUnavailable, Finish, RequestError, ResourceError
from midfill_engine.gateway.ask import Dialect
from midfill_engine.gateway.command import Door
from midfill_engine.gateway.llamacpp import LlamaCpp
from midfill_engine.gateway.openai import OpenAI
from support.gateway import client_of, gateway_at
from support.scripted import PATIENCE_S, Answer, Gate, ScriptedEngine

INFILL: dict[str, Any] = {"input_prefix": "a = ", "input_suffix": "\n", "prompt": ""}
COMPLETION: dict[str, Any] = {"prompt": "a = ", "suffix": "\n"}
TOKEN = "a-token-that-is-long-enough"


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(("path", "body"), [("/infill", INFILL), ("/v1/completions", COMPLETION)])
async def test_a_closed_connection_cancels_before_the_next_step(path: str, body: Any, is_stream: bool) -> None:
    engine = ScriptedEngine([Answer(num_steps=9, gate=Gate(before_step=3))])
    async with client_of(engine) as client:
        asking = asyncio.create_task(client.post(path, json=body | {"stream": is_stream}))
        await engine.wait_until(lambda engine: engine.num_steps == 2)
        asking.cancel()
        await engine.wait_until(lambda engine: engine.num_cancelled == 1)
        assert engine.num_steps == 2
        metrics = (await client.get("/metrics")).text
    assert f'midfill_requests_total{{path="{path}",status="499"}} 1' in metrics
    assert "midfill_requests_waiting 0" in metrics


async def test_more_than_can_be_served_are_told_to_come_again() -> None:
    gate = Gate()
    engine = ScriptedEngine([Answer(gate=gate)])
    async with client_of(engine, most_waiting=1) as client:
        first = asyncio.create_task(client.post("/infill", json=INFILL))
        await engine.wait_until(lambda engine: len(engine.requests) == 1)
        second = await client.post("/v1/completions", json=COMPLETION)
        gate.open()
        assert (await first).status_code == 200
    assert (second.status_code, second.headers["retry-after"]) == (503, "1")
    assert second.json()["error"]["message"].startswith("1 requests wait already")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RequestError("wrong"), 400),
        (EngineUnavailable("gone"), 503),
        (ResourceError("no memory"), 500),
        (ValueError("secret text"), 500),
    ],
)
async def test_a_failure_has_the_shape_of_its_api(error: Exception, status: int) -> None:
    async with client_of(ScriptedEngine([Answer(error=error), Answer(error=error)])) as client:
        infill = await client.post("/infill", json=INFILL)
        completion = await client.post("/v1/completions", json=COMPLETION)
    assert (infill.status_code, completion.status_code) == (status, status)
    assert infill.json()["error"]["code"] == status
    assert set(completion.json()["error"]) == {"message", "type", "param", "code"}
    assert "secret" not in infill.text + completion.text


@pytest.mark.parametrize(
    ("path", "body", "reason"),
    [
        ("/infill", {}, "required"),
        ("/infill", INFILL | {"n_predict": "many"}, "n_predict must be a number"),
        ("/infill", INFILL | {"input_extra": ["text"]}, "input_extra must be a list of objects"),
        ("/infill", INFILL | {"temperature": 3}, "temperature must be 0 to 2"),
        ("/v1/completions", COMPLETION | {"echo": True}, "echo is not supported"),
        ("/v1/completions", COMPLETION | {"logprobs": 1}, "logprobs are not supported"),
        ("/v1/completions", COMPLETION | {"best_of": 4}, "best_of is not supported"),
        ("/v1/completions", COMPLETION | {"n": 0}, "num_candidates must be 1 to 16"),
        ("/v1/completions", {"prompt": [1, 2, 3]}, "prompt must be one text"),
        ("/v1/completions", {"prompt": ["a", "b"]}, "prompt must be one text"),
    ],
)
async def test_what_is_wrong_is_named(path: str, body: Any, reason: str) -> None:
    engine = ScriptedEngine()
    async with client_of(engine) as client:
        response = await client.post(path, json=body)
    assert response.status_code == 400
    assert reason in response.json()["error"]["message"]
    assert not engine.requests


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        "prompt",
        "suffix",
        "stop",
        "n",
        "max_tokens",
        "n_predict",
        "seed",
        "temperature",
        "stream",
        "options",
        "stream_options",
        "input_prefix",
        "input_suffix",
        "input_extra",
        "n_indent",
        "t_max_predict_ms",
        "t_max_prompt_ms",
        "response_fields",
        "user",
        "echo",
        "best_of",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=40), st.dictionaries(KEYS, JSON, max_size=6).map(lambda v: json.dumps(v).encode())))
def test_no_body_makes_a_dialect_fail(body: bytes) -> None:
    dialects: list[Dialect] = [LlamaCpp(is_infill=True), LlamaCpp(is_infill=False), OpenAI(), OpenAI(is_chat=True)]
    for dialect in dialects:
        with suppress(RequestError):
            dialect.read(body)


async def test_time_limits_end_in_what_there_is() -> None:
    engine = ScriptedEngine([Answer(text="half", finish=Finish.DEADLINE)])
    async with client_of(engine) as client:
        said = (await client.post("/infill", json=INFILL | {"t_max_predict_ms": 250})).json()
    assert engine.requests[0].limits.deadline_s == 0.25
    assert (said["content"], said["stop_type"]) == ("half", "limit")


async def test_the_openai_library_completes_and_streams() -> None:
    engine = ScriptedEngine(default=Answer(text="1", others=("2",)))
    async with gateway_at(engine, token=TOKEN) as url, AsyncOpenAI(base_url=f"{url}/v1", api_key=TOKEN) as client:
        whole = await client.completions.create(model="any", prompt="a = ", suffix="\n", n=2, seed=7, temperature=0.5)
        stream = await client.completions.create(model="any", prompt="a = ", suffix="\n", max_tokens=9, stream=True)
        pieces = [choice.text async for chunk in stream for choice in chunk.choices if choice.index == 0]
        names = [model.id async for model in client.models.list()]
    assert [choice.text for choice in whole.choices] == ["1", "2"]
    assert (engine.requests[0].num_candidates, engine.requests[0].seed, engine.requests[0].temperature) == (2, 7, 0.5)
    assert ("".join(pieces), names) == ("1", ["scripted"])


async def test_the_openai_library_is_told_what_is_wrong() -> None:
    async with (
        gateway_at(ScriptedEngine(), token=TOKEN) as url,
        AsyncOpenAI(base_url=f"{url}/v1", api_key="another", max_retries=0) as client,
    ):
        with pytest.raises(APIStatusError, match="the token is missing or wrong"):
            await client.completions.create(model="any", prompt="a = ")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": f"Bearer {TOKEN}"}, 200),
        ({"authorization": f"Bearer {TOKEN}", "host": "evil.example:8012"}, 403),
        ({"authorization": f"Bearer {TOKEN}", "host": "localhost:1"}, 200),
        ({"authorization": f"Bearer {TOKEN}", "origin": "https://evil.example"}, 403),
        ({"authorization": f"Bearer {TOKEN}", "origin": "null"}, 403),
    ],
)
async def test_who_may_ask(headers: dict[str, str], status: int) -> None:
    engine = ScriptedEngine()
    async with client_of(engine, token=TOKEN) as client:
        response = await client.post("/infill", json=INFILL, headers=headers)
    assert response.status_code == status
    assert len(engine.requests) == (status == 200)
    assert not [name for name in response.headers if name.startswith("access-control")]


async def test_health_needs_no_token_and_tells_of_the_model() -> None:
    engine = ScriptedEngine()
    async with client_of(engine, token=TOKEN) as client:
        assert (await client.get("/health")).json() == {"status": "ok"}
        engine.state = EngineState.LOADING
        loading = await client.get("/health")
    assert (loading.status_code, loading.json()["error"]["message"]) == (503, "Loading model")


async def test_metrics_are_numbers_that_add_up() -> None:
    engine = ScriptedEngine(default=Answer(text="x y", num_steps=3))
    async with client_of(engine) as client:
        for _ in range(2):
            await client.post("/infill", json=INFILL)
        await client.post("/infill", content=b"no json")
        text = (await client.get("/metrics")).text
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert values['midfill_requests_total{path="/infill",status="200"}'] == "2"
    assert values['midfill_requests_total{path="/infill",status="400"}'] == "1"
    assert (values["midfill_steps_total"], values["midfill_tokens_total"]) == ("6", "4")
    assert values["midfill_fill_seconds_count"] == values['midfill_fill_seconds_bucket{le="+Inf"}'] == "2"
    assert all(re.fullmatch(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})?', name) for name in values)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"host": "0.0.0.0"}, "open to others: give a token"),
        ({"host": "::"}, "open to others: give a token"),
        ({"host": "box.example", "token": TOKEN}, "give --tls-cert and --tls-key"),
        ({"host": "192.168.1.2", "token": "short"}, "too short"),
        ({"port": 70_000}, "--port must be"),
    ],
)
def test_a_door_that_is_open_to_others_is_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(RequestError, match=reason):
        Door(**fields)


def test_doors_that_are_safe_enough() -> None:
    for fields in (
        {"host": "::1"},
        {"host": "localhost"},
        {"host": "0.0.0.0", "token": TOKEN, "is_behind_proxy": True},
    ):
        Door(**fields)  # type: ignore[arg-type]


async def test_the_engine_is_let_go_of_in_the_end() -> None:
    engine = ScriptedEngine()
    async with asyncio.timeout(PATIENCE_S), client_of(engine):
        pass
    assert engine.is_closed
