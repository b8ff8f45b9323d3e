"""A plugin's JSON, read leniently where plugins differ and strictly where a mistake would be obeyed silently.

A key nobody knows is ignored, since every plugin sends samplers of its own server; null is "not set", as it is for
those servers. A key that we do read and that holds something else is a RequestError which names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from midfill_engine import wire
from midfill_engine.errors import RequestError


class Fields:
    """The object in a request's body."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    @classmethod
    def of(cls, body: bytes) -> Fields:
        """Raises RequestError where the body is no JSON object."""
        value = wire.load_json(body)
        if not isinstance(value, dict):
            raise RequestError("the body must be a JSON object")
        return cls(value)

    def get(self, name: str) -> Any:
        return self._values.get(name)

    def text(self, name: str, default: str = "") -> str:
        value = self._values.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise RequestError(f"{name} must be a text")
        return value

    def flag(self, name: str) -> bool:
        value = self._values.get(name)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise RequestError(f"{name} must be true or false")
        return value

    def number(self, name: str) -> float | None:
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise RequestError(f"{name} must be a number")
        return float(value)

    def whole(self, name: str) -> int | None:
        value = self.number(name)
        if value is None:
            return None
        if not value.is_integer():
            raise RequestError(f"{name} must be a whole number")
        return int(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; one text alone is meant as a list of it."""
        value = self._values.get(name)
        if value is None:
            return ()
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise RequestError(f"{name} must be a text or a list of texts")
        return tuple(item for item in items if item)

    def objects(self, name: str) -> tuple[Fields, ...]:
        value = self._values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise RequestError(f"{name} must be a list of objects")
        return tuple(Fields(item) for item in value)

    def inner(self, name: str) -> Fields:
        """The object under a key; empty where there is none."""
        value = self._values.get(name)
        return Fields(value if isinstance(value, dict) else {})
