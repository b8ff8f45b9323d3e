"""What a plugin asks for, whatever its dialect, and what every dialect must be able to say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from midfill_engine.api import FillRequest, FillResult, Finish
from midfill_engine.gateway.cut import cut_at, within_indent
from midfill_engine.gateway.fields import Fields

MOST_TOKENS = 4096
USUAL_TOKENS = 128


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A request for a fill. `request` None: nothing is to be filled, the plugin only wants its context known.
    `fields`: the body, for what only its dialect's answer needs."""

    request: FillRequest | None
    fields: Fields
    stop: tuple[str, ...] = ()
    num_indent: int = 0
    is_stream: bool = False


@dataclass(frozen=True, kw_only=True)
class Middle:
    """A candidate as the plugin gets it. `stop_word`: the stop string at which it was cut."""

    text: str
    is_cut_off: bool = False
    stop_word: str = ""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """`middles` is never empty; nothing to offer is one that is empty."""

    middles: tuple[Middle, ...]
    result: FillResult


class Dialect(Protocol):
    """One API: how it is asked, answered and refused. Values and bytes only."""

    def read(self, body: bytes) -> Ask:
        """Raises RequestError that says what is wrong."""
        ...

    def answer(self, ask: Ask, answer: Answer) -> dict[str, Any]: ...

    def events(self, ask: Ask, answer: Answer) -> Iterator[str]:
        """The data of server-sent events, in order."""
        ...

    def error(self, message: str, status: int) -> dict[str, Any]: ...


def answer_of(ask: Ask, result: FillResult) -> Answer:
    """The candidates cut as the plugin wants them, none twice."""
    middles = dict.fromkeys(_middle_of(ask, candidate.text, result) for candidate in result.candidates)
    kept = tuple(middle for middle in middles if middle.text.strip())
    return Answer(middles=kept or (Middle(text=""),), result=result)


def num_tokens_of(asked: int | None) -> int:
    """How many tokens are meant: -1 is "no limit" to some servers."""
    return min(asked, MOST_TOKENS) if asked is not None and asked > 0 else USUAL_TOKENS


def _middle_of(ask: Ask, text: str, result: FillResult) -> Middle:
    text, word = cut_at(text, ask.stop)
    is_cut_off = not word and result.finish in (Finish.LENGTH, Finish.DEADLINE)
    return Middle(text=within_indent(text, ask.num_indent), is_cut_off=is_cut_off, stop_word=word)
