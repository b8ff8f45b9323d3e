"""Drafts are sent in order, not too often, and the end is told once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from midfill_engine.api import Draft
from midfill_server.ondemand.drafts import PERIOD_S, DraftStream


class Clock:
    """Time that passes when it is told to, and what is to happen then."""

    def __init__(self) -> None:
        self.time = 100.0
        self._calls: list[tuple[float, Callable[[], None]]] = []

    def now(self) -> float:
        return self.time

    def later(self, delay_s: float, call: Callable[[], None]) -> Clock.Call:
        self._calls.append((self.time + delay_s, call))
        return Clock.Call(self, self._calls[-1])

    def pass_by(self, seconds: float) -> None:
        until = self.time + seconds
        while due := [each for each in self._calls if each[0] <= until]:
            first = min(due, key=lambda each: each[0])
            self._calls.remove(first)
            self.time = first[0]
            first[1]()
        self.time = until

    class Call:
        def __init__(self, clock: Clock, call: tuple[float, Callable[[], None]]) -> None:
            self._clock, self._call = clock, call

        def cancel(self) -> None:
            if self._call in self._clock._calls:
                self._clock._calls.remove(self._call)


@given(st.lists(st.floats(0, 0.2), max_size=40))
def test_never_too_often_always_in_order_the_latest_before_a_pause_and_one_end(pauses: list[float]) -> None:
    clock = Clock()
    sent: list[tuple[float, int]] = []
    stream = DraftStream(lambda draft: sent.append((clock.time, draft.step if draft else 0)), clock.now, clock.later)
    last_before_pause = []
    for step, pause in enumerate(pauses, start=1):
        stream.show(Draft(step=step, tokens=()))
        clock.pass_by(pause)
        if pause > PERIOD_S:
            last_before_pause.append(step)
    stream.end()
    stream.end()
    stream.show(Draft(step=99, tokens=()))
    clock.pass_by(1)
    times, steps = [time for time, _ in sent[:-1]], [step for _, step in sent]
    assert steps[-1] == 0
    assert 0 not in steps[:-1]
    assert steps[:-1] == sorted(set(steps[:-1]))
    assert all(later - earlier >= PERIOD_S - 1e-9 for earlier, later in pairwise(times))
    assert set(last_before_pause) <= set(steps)
    assert not pauses or steps[0] == 1


def test_an_end_without_a_draft() -> None:
    sent: list[Draft | None] = []
    DraftStream(sent.append).end()
    assert sent == [None]
