"""The endpoints over an engine in this process: hostile bodies, and what a request that is refused is told."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midfill_engine import wire
from midfill_engine.api import FillRequest, WeightsError
from midfill_engine.core import OnProgress
from midfill_engine.service.app import make_app
from midfill_engine.service.transport import UnixTransport
from support.scripted import Answer, Gate, ScriptedEngine


class Engine(ScriptedEngine):
    async def load(self, on_progress: OnProgress | None = None) -> None:
        if on_progress is not None:
            on_progress(1.0, "there")


class Ending:
    is_over = False

    def end(self) -> None:
        self.is_over = True

    def is_ending(self) -> bool:
        return self.is_over


class Exchange:
    """One request to the application, as its server would hand it on; the client stays until `leave`."""

    def __init__(self, engine: Engine, ending: Ending | None = None) -> None:
        self._app = make_app(engine, UnixTransport(), ending or Ending())
        self._inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: list[dict[str, Any]] = []

    def leave(self) -> None:
        self._inbox.put_nowait({"type": "http.disconnect"})

    async def ask(self, path: str, *parts: bytes, method: str = "POST", query: bytes = b"") -> int:
        for part in parts:
            self._inbox.put_nowait({"type": "http.request", "body": part, "more_body": True})
        self._inbox.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        scope = {"type": "http", "method": method, "path": path, "query_string": query, "headers": []}
        await self._app(scope, self._inbox.get, self._send)
        return int(self.sent[0]["status"])

    async def _send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    @property
    def lines(self) -> list[dict[str, Any]]:
        body = b"".join(message.get("body", b"") for message in self.sent)
        return [json.loads(line) for line in body.split(b"\n") if line]


def body_of(**fields: Any) -> bytes:
    return wire.dump_line(wire.to_wire(FillRequest(**{"prefix": ""} | fields)))


def check_refused(body: bytes, reason: str) -> None:
    exchange = Exchange(engine := Engine())
    assert asyncio.run(exchange.ask("/v1/fill", body)) == 400
    (line,) = exchange.lines
    assert line["error"]["kind"] == "request"
    assert reason in line["error"]["message"]
    assert "\n" not in line["error"]["message"]
    assert not engine.requests


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"prefix": ' + b"9" * 10_000 + b"}", "not JSON"),
        (b"[]", "expected an object"),
        (b"{}", "'prefix' is missing"),
        (b'{"prefix": 3}', "expected text @ $.prefix"),
        (b'{"prefix": "", "mode": "sideways"}', "mode"),
        (b'{"prefix": "", "seed": true}', "expected a whole number @ $.seed"),
        (b'{"prefix": "", "temperature": NaN}', "temperature must be"),
        (b'{"prefix": "", "limits": {"maxTokens": 0}}', "max_tokens must be 1 or more"),
        (b'{"prefix": "", "limits": {"max_tokens": 1}}', "unknown key 'max_tokens' @ $.limits"),
        (b'{"prefix": "", "snippets": [{"path": "a"}]}', "'text' is missing"),
        (b'{"prefix": "", "snippets": 7}', "expected a list"),
        (b'{"prefix": "", "numCandidates": 1e3}', "expected a whole number"),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(body: bytes, reason: str) -> None:
    check_refused(body, reason)


async def test_a_request_without_end_is_cut_off() -> None:
    exchange = Exchange(Engine())
    part = b" " * 2**20
    assert await exchange.ask("/v1/fill", *[part] * (wire.MAX_BYTES // 2**20 + 1)) == 400
    assert exchange.lines[0]["error"]["message"] == wire.TOO_LARGE


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(sorted(wire.to_wire(FillRequest(prefix=""))))
ODD_REQUESTS = st.dictionaries(KEYS, JSON, max_size=5).map(lambda fields: {"prefix": "x"} | fields)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=64), st.one_of(JSON, ODD_REQUESTS).map(lambda value: json.dumps(value).encode())))
def test_no_body_makes_it_fail(body: bytes) -> None:
    exchange = Exchange(Engine())
    status = asyncio.run(exchange.ask("/v1/fill", body))
    assert status in (200, 400)
    assert list(exchange.lines[-1]) == (["result"] if status == 200 else ["error"])


async def test_drafts_come_only_to_those_who_watch() -> None:
    for query, expected in ((b"drafts=true", ["draft", "draft", "result"]), (b"", ["result"])):
        exchange = Exchange(Engine([Answer(num_steps=2)]))
        assert await exchange.ask("/v1/fill", body_of(), query=query) == 200
        assert [next(iter(line)) for line in exchange.lines] == expected


async def test_who_leaves_cancels_the_fill() -> None:
    exchange = Exchange(engine := Engine([Answer(num_steps=9, gate=Gate(before_step=3))]))
    asking = asyncio.create_task(exchange.ask("/v1/fill", body_of()))
    await engine.wait_until(lambda engine: engine.num_steps == 2)
    exchange.leave()
    await asking
    assert (engine.num_cancelled, engine.num_steps) == (1, 2)


async def test_who_has_left_already_is_not_waited_for() -> None:
    exchange = Exchange(engine := Engine([Answer(gate=Gate())]))
    asking = asyncio.create_task(exchange.ask("/v1/fill", body_of()))
    exchange.leave()
    await asking
    assert engine.num_steps == 0


async def test_a_failure_is_the_last_line() -> None:
    exchange = Exchange(Engine([Answer(error=WeightsError("broken weights"), num_steps=1)]))
    assert await exchange.ask("/v1/fill", body_of(), query=b"drafts=true") == 200
    assert exchange.lines[-1] == {"error": {"kind": "weights", "message": "broken weights"}}


async def test_an_exception_nobody_expected_says_nothing_of_the_text(caplog: pytest.LogCaptureFixture) -> None:
    exchange = Exchange(Engine([Answer(error=ValueError("secret"), num_steps=1)]))
    assert await exchange.ask("/v1/fill", body_of(prefix="secret")) == 200
    assert exchange.lines[-1]["error"]["kind"] == "engine"
    assert "secret" not in caplog.text + str(exchange.lines)


async def test_an_engine_that_ends_begins_nothing() -> None:
    ending = Ending()
    assert await Exchange(Engine(), ending).ask("/v1/stop") == 200
    for path, method in (("/v1/fill", "POST"), ("/v1/load", "POST"), ("/health", "GET")):
        assert await Exchange(engine := Engine(), ending).ask(path, body_of(), method=method) == 503
        assert not engine.requests


async def test_loading_is_told_as_it_goes() -> None:
    exchange = Exchange(Engine())
    assert await exchange.ask("/v1/load") == 200
    assert exchange.lines[0] == {"progress": 1.0, "message": "there"}
    assert exchange.lines[1]["status"]["preset"] == "scripted"


@pytest.mark.parametrize(
    ("path", "method", "expected"), [("/", "GET", 404), ("/v1/fill", "GET", 405), ("/v1/stop", "GET", 405)]
)
async def test_other_paths_and_methods_are_refused(path: str, method: str, expected: int) -> None:
    assert await Exchange(Engine()).ask(path, method=method) == expected
