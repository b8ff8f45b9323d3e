"""What a session holds and does at this moment: numbers that must come back to rest when nobody types.

Told with the statistics, so that a leak can be seen from outside.
"""

from __future__ import annotations

import asyncio

from midfill_server.session import Session


def running(session: Session) -> dict[str, int]:
    """Numbers by names that do not change. `tasks`: of the event loop, this request's own among them."""
    return {
        "openDocuments": len(session.documents),
        "runningFills": len(session.completer.flights),
        "tasks": len(asyncio.all_tasks()),
    }
