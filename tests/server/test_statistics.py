"""What is counted, how it is kept, and how much of an accepted text is found again."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_server import tally_file
from midfill_server.documents import Document, Edit, Span
from midfill_server.keepsakes import Keepsakes, Kept
from midfill_server.positions import Encoding, Point
from midfill_server.stats_view import figures, markdown, rows
from midfill_server.tally import NUMBERS, Tally

URI = "file:///a.py"


@given(st.lists(st.floats(0.0001, 60), min_size=1, max_size=200), st.integers(1, 100))
def test_a_percentile_of_buckets_is_that_of_the_values_but_for_a_tenth(waits: list[float], percent: int) -> None:
    tally = Tally()
    for wait in waits:
        tally.note_latency(wait)
    rank = -(-len(waits) * percent // 100)  # the slow way: the value of that rank
    exact = 1000 * sorted(waits)[rank - 1]
    found = tally.latency_ms(percent)
    assert found is not None
    assert found == pytest.approx(exact, rel=0.1, abs=0.06)


@given(st.lists(st.dictionaries(st.sampled_from(NUMBERS), st.integers(0, 100)), max_size=5))
def test_what_is_counted_apart_is_added_up(parts: list[dict[str, int]]) -> None:
    whole = Tally()
    for part in parts:
        tally = Tally(**part)
        tally.note_latency(0.1)
        whole.add(tally)
    assert all(getattr(whole, name) == sum(part.get(name, 0) for part in parts) for name in NUMBERS)
    assert whole.latencies.total() == len(parts)
    assert Tally.load(json.loads(json.dumps(whole.dump()))) == whole


@pytest.mark.parametrize(
    "raw",
    [None, [], {"num_shown": -1}, {"num_shown": "7"}, {"num_shown": True}, {"latencies": [1]}, {"latencies": {"x": 1}}],
)
def test_what_makes_no_sense_counts_as_nothing(raw: Any) -> None:
    assert Tally.load(raw) == Tally()


def test_the_file_is_the_users_only_and_windows_add_up(tmp_path: Path) -> None:
    path = tmp_path / "state" / "statistics.json"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: tally_file.add(path, Tally(num_shown=1)), range(20)))
    assert tally_file.read(path).num_shown == 20
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    tally_file.reset(path)
    tally_file.reset(path)
    assert tally_file.read(path) == Tally()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 10_000])
def test_a_broken_file_is_begun_anew(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "statistics.json"
    path.write_bytes(content)
    tally_file.add(path, Tally(num_accepted=1))
    assert tally_file.read(path).num_accepted == 1


def test_views_have_something_to_say_of_nothing_and_of_much() -> None:
    much = Tally(num_shown=4, num_accepted=1, num_characters_watched=10, num_characters_kept=5)
    much.note_latency(0.08)
    assert figures(Tally())["latencyMsP50"] is None
    assert figures(much)["acceptedShare"] == 0.25
    assert figures(much)["keptShare"] == 0.5
    assert ("accepted", "1 (25%)") in rows(much)
    assert markdown(much).count("\n") == len(rows(much)) + 1


def kept(before: str, accepted: str, *edits: Edit) -> Kept:
    """What is found of an accepted text, put in at the mark `|`, after edits."""
    head, tail = before.split("|")
    document = Document(URI, "python", 1, head + accepted + tail)
    start = Point(head.count("\n"), len(head) - head.rfind("\n") - 1)
    keepsakes = Keepsakes()
    keepsakes.watch(URI, document.lines, start, accepted, now=1.0)
    for edit in edits:
        keepsakes.on_change(URI, document.apply([edit], 2, Encoding.UTF32))
    assert keepsakes.settle(URI, document.lines, until=0.5) == Kept()
    found = keepsakes.settle(URI, document.lines, until=1.0)
    assert len(keepsakes) == 0
    return found


@pytest.mark.parametrize(
    ("edits", "num_kept"),
    [
        ((), 6),
        ((Edit("above\n", Span(0, 0, 0, 0)),), 6),
        ((Edit("y = ", Span(0, 0, 0, 4)),), 6),
        ((Edit("below", Span(1, 0, 1, 0)),), 6),
        ((Edit("x", Span(0, 4, 0, 5)),), 5),  # the first letter
        ((Edit("", Span(0, 4, 0, 10)),), 0),
        ((Edit("", Span(0, 2, 0, 6)),), 4),  # across its beginning
        ((Edit("", Span(0, 8, 1, 0)),), 4),  # across its end
        ((Edit("nothing of it"),), 0),
        ((Edit("", Span(0, 0, 1, 0)), Edit("accept", Span(0, 0, 0, 0))), 0),  # the same letters, typed anew
    ],
)
def test_how_much_is_still_there(edits: tuple[Edit, ...], num_kept: int) -> None:
    assert kept("x = |\n", "accept", *edits) == Kept(6, num_kept)


def test_a_text_that_is_not_there_is_not_watched() -> None:
    keepsakes = Keepsakes()
    keepsakes.watch(URI, ["x = \n", ""], Point(0, 4), "accept", now=1.0)
    keepsakes.watch(URI, [""], Point(3, 4), "accept", now=1.0)
    assert len(keepsakes) == 0


EDITS = st.lists(
    st.tuples(st.text("ab\n", max_size=4), st.integers(0, 3), st.integers(0, 9), st.integers(0, 3), st.integers(0, 9)),
    max_size=6,
)


@given(EDITS)
def test_whatever_is_edited_no_more_is_kept_than_was_accepted(edits: list[tuple[str, int, int, int, int]]) -> None:
    found = kept("a\nb|a\nb", "ab\nba", *(Edit(text, Span(*where)) for text, *where in edits))
    assert 0 <= found.num_kept <= found.num_watched == 5
