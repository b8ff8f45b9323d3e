"""How long to wait for the next key before the model is asked.

Waiting pays only where the next key is likely to come while we wait. To somebody who types evenly it is lost time: a
fill that is begun at once is there sooner, and what is typed along with it does not stop it. It is quick successions
(two letters of a word, a key that repeats) that would have a fill begun for nothing. So we wait as long as those take,
no longer than the user allows, and not at all if the engine is quicker than the keys.
"""

from __future__ import annotations

from collections import deque
from statistics import median, quantiles

AUTO_BOUND_S = 0.075
"""The longest wait where the user has set none: less than anybody notices."""

NUM_REMEMBERED = 24
LEAST_KNOWN = 4
LONGEST_GAP_S = 1.5
"""Longer ones are pauses to think, not typing."""

AHEAD = 1.25
"""Keys come not quite evenly: how much longer than a usual succession is waited."""


class Pace:
    """What is known of the user's keys and the engine's fills. Times are seconds on any one clock."""

    def __init__(self) -> None:
        self._gaps: deque[float] = deque(maxlen=NUM_REMEMBERED)
        self._fills: deque[float] = deque(maxlen=NUM_REMEMBERED)
        self._last_key: float | None = None

    def note_key(self, now: float) -> None:
        """A text has changed."""
        if self._last_key is not None and 0 < now - self._last_key <= LONGEST_GAP_S:
            self._gaps.append(now - self._last_key)
        self._last_key = now

    def note_fill(self, seconds: float) -> None:
        """A fill has run to its end."""
        self._fills.append(seconds)

    def pause_s(self, bound_s: float) -> float:
        """How long to wait, at most `bound_s`."""
        if len(self._gaps) < LEAST_KNOWN:
            return 0.0
        quick = quantiles(self._gaps, n=4)[0]
        if self._fills and median(self._fills) <= quick:
            return 0.0
        wait = AHEAD * quick
        return wait if wait <= bound_s else 0.0
