"""Which pieces of other open files come with a request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from midfill_server.context import Neighbours
from midfill_server.context.neighbours import MOST_CHARACTERS, MOST_FILES, MOST_LINES_AT_ONCE, PAUSE_S, SAME_PLACE_LINES
from midfill_server.context.windows import windows_of
from midfill_server.documents import Document, DocumentStore, Edit
from midfill_server.positions import Encoding

HERE = "file:///w/here.py"


class Desk:
    """Documents, a clock that stands still, and a list of what is off."""

    def __init__(self) -> None:
        self.documents = DocumentStore()
        self.time = 0.0
        self.off: set[str] = set()
        self.neighbours = Neighbours(documents=self.documents, why_off=self._why_off, now=lambda: self.time)

    def _why_off(self, document: Document) -> str:
        return "off" if document.uri in self.off else ""

    def open(self, uri: str, text: str) -> None:
        self.documents.open(uri, "python", 1, text)
        self.neighbours.note(uri)

    def paths(self, row: int = 0, uri: str = HERE) -> list[str]:
        return [snippet.path for snippet in self.neighbours.snippets(uri, row)]


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.open(HERE, "parcel = weigh(parcel)\nprice = tariff[parcel]\n" + "\n" * 100)
    return desk


def test_likeness_decides_and_each_file_comes_once(desk: Desk) -> None:
    desk.open("file:///w/near.py", "parcel = weigh(other)\nprice = tariff[other]\n" * 100)
    desk.open("file:///w/some.py", "parcel = alpha\nbeta = gamma\ndelta = omega\n")
    desk.open("file:///w/far.py", "alpha = beta\n")
    assert desk.paths() == ["near.py", "some.py"]


def test_a_definition_of_a_name_near_the_cursor_leads_and_begins_there(desk: Desk) -> None:
    desk.open("file:///w/near.py", "parcel = other\nsome = more\n")
    desk.open("file:///w/tools.py", "import os\n" * 30 + "async def weigh(goods):\n    return goods.mass\n")
    desk.neighbours.note("file:///w/near.py")
    first = desk.neighbours.snippets(HERE, 0)[0]
    assert first.text.startswith("async def weigh(goods):")


def test_what_is_shown_is_bounded(desk: Desk) -> None:
    for number in range(20):
        desk.open(f"file:///w/{number}.py", f"parcel = weigh(price, tariff)  # {'x' * 300}\n" * 5_000)
    asyncio.run(desk.neighbours.prepare())
    snippets = desk.neighbours.snippets(HERE, 0)
    assert len(snippets) == MOST_FILES
    assert all(0 < len(snippet.text) <= MOST_CHARACTERS for snippet in snippets)


def test_large_files_are_cut_up_between_requests_and_not_in_one(desk: Desk) -> None:
    """A request after a change in a large file cut that up anew, and the answer came 12 ms later."""
    desk.open("file:///w/large.py", "parcel = weigh(price)\n" * 2 * MOST_LINES_AT_ONCE)
    assert desk.paths() == []
    asyncio.run(desk.neighbours.prepare())
    _paused(desk)
    assert desk.paths() == ["large.py"]


def test_until_a_changed_file_is_cut_up_again_it_stands_as_it_was(desk: Desk) -> None:
    text = "parcel = weigh(price)\n" * 2 * MOST_LINES_AT_ONCE
    desk.open("file:///w/large.py", text)
    asyncio.run(desk.neighbours.prepare())
    large = desk.documents.get("file:///w/large.py")
    assert large is not None
    large.apply([Edit("other = thing\n" * 2 * MOST_LINES_AT_ONCE)], 2, Encoding.UTF16)
    assert desk.neighbours.snippets(HERE, 0)[0].text.startswith("other")  # the place is old, the text never
    asyncio.run(desk.neighbours.prepare())
    _paused(desk)
    assert desk.paths() == []


def test_a_document_that_was_opened_anew_is_cut_up_anew(desk: Desk) -> None:
    desk.open("file:///w/near.py", "parcel = weigh(price)\n")
    assert desk.paths() == ["near.py"]
    desk.open("file:///w/near.py", "other = thing\n")
    _paused(desk)
    assert desk.paths() == []


def _typed(desk: Desk) -> None:
    desk.time += PAUSE_S / 2


def _paused(desk: Desk) -> None:
    desk.time += PAUSE_S


@pytest.mark.parametrize(
    ("meanwhile", "row", "is_new"),
    [(_typed, 1, False), (_typed, SAME_PLACE_LINES, True), (_paused, 0, True)],
)
def test_a_choice_stands_while_somebody_types(
    desk: Desk, meanwhile: Callable[[Desk], None], row: int, is_new: bool
) -> None:
    desk.open("file:///w/near.py", "parcel = weigh(price)\n")
    before = desk.neighbours.snippets(HERE, 0)
    near = desk.documents.get("file:///w/near.py")
    assert near is not None
    near.apply([Edit("parcel = weigh(tariff)\n")], 2, Encoding.UTF16)
    meanwhile(desk)
    assert (desk.neighbours.snippets(HERE, row) != before) is is_new


def test_what_has_become_off_or_was_closed_is_gone_at_once(desk: Desk) -> None:
    """A choice that stands must not show what may not be shown any more."""
    desk.open("file:///w/one.py", "parcel = weigh(price)\n")
    desk.open("file:///w/two.py", "parcel = weigh(price)\n")
    assert sorted(desk.paths()) == ["one.py", "two.py"]
    desk.off.add("file:///w/one.py")
    assert desk.paths() == ["two.py"]
    desk.neighbours.forget("file:///w/two.py")
    desk.documents.close("file:///w/two.py")
    assert desk.paths() == []


def test_the_cells_of_a_notebook_are_no_neighbours_of_each_other(desk: Desk) -> None:
    cells = [f"vscode-notebook-cell:/w/n.ipynb#{number}" for number in range(2)]
    for cell in cells:
        desk.open(cell, "parcel = weigh(price)\n")
    assert desk.paths(uri=cells[0]) == ["here.py"]


@pytest.mark.parametrize("num_lines", [0, 1, 20, 39, 40, 41, 60, 61, 500])
def test_every_line_is_in_a_window(num_lines: int) -> None:
    lines = [f"name_{row}\n" for row in range(num_lines)]
    names = {name for window in windows_of(lines) for name in window.names}
    assert names == {f"name_{row}" for row in range(num_lines)}
