"""Everything the engine can fail with.

    EngineError                 what a user did or has is in the way; the message says what to do
    ├── RequestError            the request itself cannot be served (a limit of 0, an unknown mode)
    ├── PresetError             no such preset, or its settings are wrong
    ├── WeightsError            weights missing, broken, or of a kind we do not load
    ├── ResourceError           not enough memory or disk, or no such device
    └── EngineUnavailable       the engine process cannot be started, or ended while it worked for us

A cancelled or superseded fill is not an error: it is a `FillResult` with that finish reason.
"""

from __future__ import annotations


class EngineError(Exception):
    """Base of the family. `str(error)` is one line that can be shown to a user as it is."""


class RequestError(EngineError):
    """The request cannot be served as it stands."""


class PresetError(EngineError):
    """The preset does not exist or its settings are wrong."""


class WeightsError(EngineError):
    """The weights are missing, broken, or not of a kind that is loaded here."""


class ResourceError(EngineError):
    """Memory, disk or device do not suffice."""


class EngineUnavailable(EngineError):  # noqa: N818 - it is a state, and may pass
    """The engine process could not be reached, or ended during the request."""
