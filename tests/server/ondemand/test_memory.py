"""What was made last is found again after edits elsewhere, and is forgotten when its text is changed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from midfill_server.documents import Change, Document, Edit, Span, split_lines
from midfill_server.ondemand.memory import Made, Memory
from midfill_server.ondemand.place import Place
from midfill_server.ondemand.task import Hole, Task
from midfill_server.positions import Encoding, Point

URI = "file:///a"
TEXTS = st.text(st.sampled_from("ab \n😀"), max_size=12)


def point_at(text: str, offset: int) -> Point:
    lines = split_lines(text[:offset])
    return Point(len(lines) - 1, len(lines[-1]))


def place_in(text: str, start: int, size: int) -> Place:
    return Place(point_at(text, start), point_at(text, start + size))


class Bench:
    """A document in which `old` between `before` and `after` was replaced on demand by `new`."""

    def __init__(self, before: str, old: str, new: str, after: str) -> None:
        self.document = Document(URI, "", 1, before + old + after)
        place = place_in(before + old + after, len(before), len(old))
        made = Made(
            task=Task(title="", holes=(Hole(place=place),), needs_confirmation=True),
            before=(place,),
            old=(old,),
            after=(place_in(before + new + after, len(before), len(new)),),
            new=(new,),
            shown=((new,),),
            seed=1,
        )
        self.memory = Memory()
        self.memory.keep(URI, made)

    def edit(self, start: int, end: int, text: str) -> None:
        span = Span(*point_at(self.document.text, start), *point_at(self.document.text, end))
        changes: list[Change] = self.document.apply([Edit(text, span)], 2, Encoding.UTF32)
        self.memory.note(URI, changes, self.document.lines)

    def again(self) -> str | None:
        """What another draft would replace, in marks."""
        made = self.memory.again(URI, self.document.lines)
        if made is None:
            return None
        (hole,) = made.task.holes
        before = Place(Point(0, 0), hole.place.start)
        size = len(_text(self.document.lines, before))
        inside = _text(self.document.lines, hole.place)
        text = self.document.text
        return f"{text[:size]}[{inside}]{text[size + len(inside) :]}"


def _text(lines: list[str], place: Place) -> str:
    end = place.end
    rows = [*lines[: end.row], lines[end.row][: end.column]]
    rows[place.start.row] = rows[place.start.row][place.start.column :]
    return "".join(rows[place.start.row :])


@given(TEXTS, TEXTS, TEXTS.filter(bool), TEXTS, TEXTS, TEXTS, st.booleans())
def test_put_in_by_any_minimal_difference_and_followed_through_edits_elsewhere(
    before: str, old: str, new: str, after: str, above: str, below: str, is_cut_from_left: bool
) -> None:
    """Clients send only what differs; where equal letters meet, from the left or from the right."""
    bench = Bench(before, old, new, after)
    then, now = before + old + after, before + new + after
    head, tail = _shared(then, now, is_cut_from_left)
    bench.edit(head, len(then) - tail, now[head : len(now) - tail])
    assert bench.document.text == now
    assert bench.again() == f"{before}[{new}]{after}"
    bench.edit(0, 0, above + "\n")
    bench.edit(len(bench.document.text), len(bench.document.text), "\n" + below)
    if before:
        assert bench.again() == f"{above}\n{before}[{new}]{after}\n{below}"


def _shared(then: str, now: str, is_cut_from_left: bool) -> tuple[int, int]:
    """How much the two have in common at the beginning and at the end, the one taken before the other."""
    size = min(len(then), len(now))
    head = next((count for count in range(size) if then[count] != now[count]), size)
    tail = next((count for count in range(size) if then[-1 - count] != now[-1 - count]), size)
    return (head, min(tail, size - head)) if is_cut_from_left else (min(head, size - tail), tail)


def test_a_change_in_it_is_the_end_of_it() -> None:
    bench = Bench("a", "", "new", "b")
    bench.edit(1, 1, "new")
    bench.edit(2, 3, "o")
    assert bench.again() is None
    bench.edit(2, 3, "e")
    assert bench.again() is None


def test_what_was_not_put_in_can_be_made_again_in_the_old_place() -> None:
    bench = Bench("a", "old", "new", "b")
    assert bench.again() == "a[old]b"
    bench.edit(0, 0, "x\n")
    assert bench.again() == "x\na[old]b"
    bench.edit(3, 4, "O")
    assert bench.again() is None
    bench.memory.forget(URI)
    assert bench.again() is None
