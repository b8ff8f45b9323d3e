"""The api's values survive the wire, whatever text is in them."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_engine import api, errors, wire
from midfill_engine.api import (
    Candidate,
    Draft,
    DraftToken,
    EngineOptions,
    EngineState,
    EngineStatus,
    FillRequest,
    FillResult,
    Finish,
    Limits,
    Mode,
    Snippet,
    Timings,
)

# Lone surrogates too: editors send them when a pair is cut in two.
TEXT = st.text(st.characters(), max_size=20) | st.just("\ud800\u2028\r\n\0")
SHARE = st.floats(0.0, 1.0)
REQUESTS = st.builds(
    FillRequest,
    prefix=TEXT,
    suffix=TEXT,
    mode=st.sampled_from(Mode),
    limits=st.builds(Limits, max_tokens=st.integers(1, 99), max_steps=st.none() | st.integers(1, 9)),
    num_candidates=st.integers(1, 16),
    seed=st.integers(0, 2**63 - 1),
    temperature=st.none() | SHARE,
    snippets=st.lists(st.builds(Snippet, path=TEXT, text=TEXT), max_size=2).map(tuple),
    document=TEXT,
)
RESULTS = st.builds(
    FillResult,
    candidates=st.lists(st.builds(Candidate, text=TEXT, confidence=SHARE), max_size=2).map(tuple),
    finish=st.sampled_from(Finish),
    timings=st.builds(Timings, load=SHARE, total=SHARE),
)
DRAFTS = st.builds(
    Draft,
    step=st.integers(1, 9),
    tokens=st.lists(st.builds(DraftToken, text=TEXT, is_locked=st.booleans()), max_size=3).map(tuple),
)
OPTIONS = st.builds(EngineOptions, preset=TEXT, runtime_dir=st.none() | st.just(Path("a") / "b"), start=st.booleans())
STATUSES = st.builds(EngineStatus, state=st.sampled_from(EngineState), preset=TEXT, progress=SHARE)


@given(st.one_of(REQUESTS, RESULTS, DRAFTS, OPTIONS, STATUSES))
def test_there_and_back_is_the_same(value: object) -> None:
    line = wire.dump_line(wire.to_wire(value))
    assert line.count(b"\n") == 1
    assert wire.parse(line, type(value)) == value


def keys_of(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


def test_names_are_camel_case_on_the_wire() -> None:
    request = FillRequest(prefix="", snippets=(Snippet(path="", text=""),))
    keys = keys_of(wire.to_wire(request)) | keys_of(wire.to_wire(EngineStatus(state=EngineState.READY, preset="")))
    assert {"numCandidates", "maxTokens", "deadlineS", "requestId", "idleS"} <= keys
    assert not {key for key in keys if "_" in key}


@pytest.mark.parametrize("cls", [cls for _, cls in inspect.getmembers(errors, inspect.isclass)])
def test_every_error_keeps_its_kind_and_message(cls: type[api.EngineError]) -> None:
    back = wire.error_from_wire(wire.error_to_wire(cls("why, and what to do")))
    assert (type(back), str(back)) == (cls, "why, and what to do")


@pytest.mark.parametrize("data", [None, 3, {}, {"kind": "new", "message": "why"}, {"kind": ["a"]}])
def test_an_error_of_another_kind_is_an_engine_error(data: object) -> None:
    assert type(wire.error_from_wire(data)) is api.EngineError


def test_every_value_of_the_api_can_be_made_with_its_defaults() -> None:
    values = [
        EngineOptions(),
        FillRequest(prefix=""),
        FillResult(candidates=(), finish=Finish.EMPTY),
        Limits(),
        Timings(),
    ]
    for value in values:
        assert dataclasses.replace(value) == value
        assert wire.from_wire(wire.to_wire(value), type(value)) == value
