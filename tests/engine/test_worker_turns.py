"""The policy of the queue: nobody is lost, the newest wins, nobody waits longer than one round."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from midfill_engine.turns import Topic, Turns

CLIENTS = "abcd"
TOPICS = st.builds(
    lambda client, document: Topic(client=client, document=document),
    st.sampled_from(CLIENTS),
    st.sampled_from(["", "x", "y"]),
)
ADD, TAKE, REMOVE = "add", "take", "remove"
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just(ADD), TOPICS),
        st.tuples(st.just(TAKE), st.none()),
        st.tuples(st.just(REMOVE), st.integers(0, 30)),
    ),
    max_size=60,
)


class Item:
    """An item with what is known of it."""

    def __init__(self, topic: Topic, number: int) -> None:
        self.topic = topic
        self.number = number


def replay(actions: list[tuple[str, object]]) -> None:
    """Run the actions on the queue and on a slow list of all items, and compare after each."""
    turns: Turns[Item] = Turns()
    waiting: list[Item] = []
    for number, (action, argument) in enumerate(actions):
        if action == ADD:
            assert isinstance(argument, Topic)
            item = Item(argument, number)
            expected = [old for old in waiting if old.topic == argument and argument.document]
            assert [turns.add(argument, item)] == (expected or [None])
            waiting = [old for old in waiting if old not in expected] + [item]
        elif action == TAKE:
            item_taken = turns.take()
            assert (item_taken in waiting) if waiting else item_taken is None
            waiting = [old for old in waiting if old is not item_taken]
        elif waiting:
            assert isinstance(argument, int)
            chosen = waiting.pop(argument % len(waiting))
            assert turns.remove(chosen)
            assert not turns.remove(chosen)
        assert len(turns) == len(waiting)
        assert set(turns) == set(waiting)
    assert set(turns.drain()) == set(waiting)
    assert not turns


@given(ACTIONS)
def test_nobody_is_lost_and_of_one_topic_only_the_newest_waits(actions: list[tuple[str, object]]) -> None:
    replay(actions)


@given(st.lists(TOPICS, min_size=1, max_size=40), st.lists(TOPICS, max_size=40))
def test_a_client_that_waits_is_served_before_anybody_is_served_twice(first: list[Topic], later: list[Topic]) -> None:
    """Also when the others keep coming back: one new request arrives between any two turns."""
    turns: Turns[Item] = Turns()
    for topic in first:
        turns.add(topic, Item(topic, 0))
    arrivals = iter(later)
    since_served: dict[str, list[str]] = {topic.client: [] for topic in first}
    while (item := turns.take()) is not None:
        client = item.topic.client
        del since_served[client]
        for others in since_served.values():
            others.append(client)
            assert len(others) == len(set(others)), "served twice while somebody waited"
        if (topic := next(arrivals, None)) is not None:
            turns.add(topic, Item(topic, 1))
        for waiting in turns:
            since_served.setdefault(waiting.topic.client, [])


@given(st.lists(st.sampled_from(CLIENTS), max_size=30))
def test_one_clients_items_keep_their_order(clients: list[str]) -> None:
    turns: Turns[Item] = Turns()
    for number, client in enumerate(clients):
        topic = Topic(client=client, document="")
        turns.add(topic, Item(topic, number))
    taken: dict[str, list[int]] = {}
    while (item := turns.take()) is not None:
        taken.setdefault(item.topic.client, []).append(item.number)
    assert all(numbers == sorted(numbers) for numbers in taken.values())


def test_the_newer_inherits_the_place_of_the_older() -> None:
    turns: Turns[str] = Turns()
    turns.add(Topic(client="a", document="x"), "x1")
    turns.add(Topic(client="a", document="y"), "y1")
    assert turns.add(Topic(client="a", document="x"), "x2") == "x1"
    assert [turns.take(), turns.take(), turns.take()] == ["x2", "y1", None]
