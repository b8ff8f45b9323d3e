"""What a soak run found, as a table for people and a line for programs, and what of it is a fault."""

from __future__ import annotations

from dataclasses import asdict, dataclass

MOST_SERVER_GROWTH_MIB = 16.0
MOST_ENGINE_GROWTH_MIB = 64.0
"""What allocators keep for themselves; a leak of a request's text at 8 requests/s is past that within minutes."""

SETTLED_S = 120.0
"""An engine that was killed before has hardly loaded its model: its growth says nothing."""

MOST_MORE_TASKS = 2
LEAVE_WITHIN_S = 1.0


@dataclass(frozen=True, kw_only=True)
class Report:
    """Figures of one run. Growth: from the first to the last third after the warm-up; the engine's is that of the one
    that lived longest."""

    minutes: float
    keys: int
    requests: int
    cancelled: int
    answered_with_error: int
    offered: int
    accepted: int
    accepted_counted: int
    unanswered: int
    latency_ms_p50: float
    latency_ms_p95: float
    engines_killed: int
    engines_seen: int
    texts: int
    texts_equal: int
    tasks_before: int
    tasks_after: int
    running_fills: int
    open_documents: int
    server_mib: float
    server_growth_mib: float
    server_slope_mib_per_h: float
    engine_mib: float
    engine_life_s: float
    engine_growth_mib: float
    engine_slope_mib_per_h: float
    leave_s: float
    strays: int
    left: int

    def figures(self) -> dict[str, float]:
        return {name: round(value, 3) for name, value in asdict(self).items()}

    def table(self) -> str:
        return "\n".join(f"{name.replace('_', ' '):<26}{value:>14,}" for name, value in self.figures().items())


def check(report: Report) -> list[str]:
    """What must not be; nothing if all is well."""
    found = {
        "nothing was typed": report.keys < 60 * report.minutes,
        "nothing was offered": report.offered == 0,
        "what was accepted is not counted": report.accepted_counted != report.accepted,
        "no engine was killed": report.engines_killed == 0,
        "a killed engine was not replaced": report.engines_seen <= report.engines_killed,
        "texts differ": report.texts_equal != report.texts,
        "requests without an answer": report.unanswered > 0,
        "tasks have leaked": report.tasks_after > report.tasks_before + MOST_MORE_TASKS,
        "fills go on for nobody": report.running_fills > 0,
        "documents are missing or too many": report.open_documents != report.texts,
        "the server's memory grows": report.server_growth_mib > MOST_SERVER_GROWTH_MIB,
        "the engine's memory grows": report.engine_life_s > SETTLED_S
        and report.engine_growth_mib > MOST_ENGINE_GROWTH_MIB,
        "the server did not leave at once": report.leave_s > LEAVE_WITHIN_S,
        "the server left children": report.strays > 0,
        "processes were left": report.left > 0,
    }
    return [fault for fault, is_so in found.items() if is_so]
