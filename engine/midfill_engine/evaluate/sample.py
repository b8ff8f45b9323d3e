"""A part of the cases, the same for the same seed, with every kind in it."""

from __future__ import annotations

import random

from midfill_engine.evaluate.cases import Case


def sample(cases: list[Case], num_cases: int, seed: int) -> list[Case]:
    """`num_cases` of the cases in their order (0: all), spread as evenly over kinds as there are cases of them.

    Each kind has its own order, so that a larger sample of the same seed holds the smaller one.
    """
    if not 0 < num_cases < len(cases):
        return list(cases)
    queues = [_shuffled(kind, cases, seed) for kind in sorted({case.kind for case in cases})]
    chosen: set[int] = set()
    for turn in range(max(len(queue) for queue in queues)):
        for queue in queues:
            if turn < len(queue) and len(chosen) < num_cases:
                chosen.add(queue[turn])
    return [cases[at] for at in sorted(chosen)]


def _shuffled(kind: str, cases: list[Case], seed: int) -> list[int]:
    places = [at for at, case in enumerate(cases) if case.kind == kind]
    random.Random(f"{seed}/{kind}").shuffle(places)
    return places
