"""Whether an inline completion was asked for by a person or by a pause, in the numbers of all clients.

The protocol counts Invoked = 1, Automatic = 2. vscode-languageclient 9 counts 0 and 1. Who has once sent a 0 counts in
that way.
"""

from __future__ import annotations


class TriggerKinds:
    """Remembers how this client counts."""

    def __init__(self) -> None:
        self._counts_from_zero = False

    def is_automatic(self, kind: object) -> bool:
        """What a number means. What is no known number is taken as automatic, which disturbs least."""
        if kind == 0:
            self._counts_from_zero = True
        return kind != (0 if self._counts_from_zero else 1)
