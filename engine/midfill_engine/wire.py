"""The api's values as JSON: one converter, camelCase on the wire, snake_case in Python.

Strict, because what comes in may be anybody's: no key that is not known, no number where text belongs, no text that
looks like a number. Every mistake is a RequestError of one line that names the place. Knows nothing of HTTP.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from cattrs import BaseValidationError, Converter, ForbiddenExtraKeysError, transform_error
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from midfill_engine.errors import (
    EngineError,
    EngineUnavailable,
    PresetError,
    RequestError,
    ResourceError,
    WeightsError,
)

T = TypeVar("T")

MAX_REASON = 200
MAX_BYTES = 32 * 2**20
TOO_LARGE = f"the request is larger than {MAX_BYTES // 2**20} MiB"

KINDS: dict[str, type[EngineError]] = {
    "engine": EngineError,
    "request": RequestError,
    "preset": PresetError,
    "weights": WeightsError,
    "resource": ResourceError,
    "unavailable": EngineUnavailable,
}
"""The error family on the wire."""


def to_wire(value: object) -> Any:
    """A dataclass of the api as plain JSON values."""
    return _CONVERTER.unstructure(value)


def from_wire(data: object, kind: type[T]) -> T:
    """The dataclass that JSON values stand for. Raises RequestError with one line that names what is wrong."""
    try:
        return _CONVERTER.structure(data, kind)
    except BaseValidationError as error:
        reasons = transform_error(error, format_exception=_reason)
        raise RequestError(reasons[0] if reasons else "not a valid request") from None
    except (EngineError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise RequestError(_reason(error, kind)) from None


def parse(line: bytes | str, kind: type[T]) -> T:
    """The dataclass that a JSON text stands for; hostile texts end as a RequestError too."""
    return from_wire(load_json(line), kind)


def load_json(text: bytes | str) -> Any:
    """JSON values; nesting without end, numbers without end and broken UTF-8 end as a RequestError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise RequestError("the body is not JSON") from None


def dump_line(value: object) -> bytes:
    """One line of ASCII, so that no text, however odd, breaks the encoding or the framing."""
    return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"


def error_to_wire(error: EngineError) -> dict[str, str]:
    kind = next((name for name, cls in KINDS.items() if cls is type(error)), "engine")
    return {"kind": kind, "message": str(error)}


def error_from_wire(data: object) -> EngineError:
    if not isinstance(data, dict):
        return EngineError("the engine failed without saying why")
    return KINDS.get(str(data.get("kind")), EngineError)(str(data.get("message")))


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _reason(error: BaseException, kind: type | None) -> str:
    if isinstance(error, ForbiddenExtraKeysError):
        return f"unknown key {', '.join(sorted(map(repr, error.extra_fields)))}"
    if isinstance(error, KeyError):
        return f"{error} is missing"
    if "not iterable" in str(error):
        return "expected a list"
    if isinstance(error, (EngineError, ValueError, TypeError)):
        return (str(error) or type(error).__name__).splitlines()[0][:MAX_REASON]
    return f"not a valid {getattr(kind, '__name__', 'value')}"


def _exactly(kind: Any, name: str) -> Any:
    def structure(value: Any, cls: Any) -> object:
        # A StrEnum is a str to the converter's dispatch; its own constructor says which values it knows.
        if issubclass(cls, Enum) and isinstance(value, str):
            return cls(value)
        # True is an int to Python, not to a user.
        if type(value) is kind or (kind is float and type(value) is int):
            return kind(value)
        raise TypeError(f"expected {name}")

    return structure


def _structure_path(value: object, _: type) -> Path:
    if not isinstance(value, str):
        raise TypeError("expected a path")
    return Path(value)


def _make_converter() -> Converter:
    converter = Converter(forbid_extra_keys=True)
    converter.register_unstructure_hook(Enum, lambda member: member.value)
    for kind, name in ((str, "text"), (int, "a whole number"), (float, "a number"), (bool, "true or false")):
        converter.register_structure_hook(kind, _exactly(kind, name))
    converter.register_structure_hook(Path, _structure_path)
    converter.register_unstructure_hook_func(lambda kind: isinstance(kind, type) and issubclass(kind, Path), str)

    def names(cls: Any) -> dict[str, Any]:
        return {field.name: override(rename=_camel(field.name)) for field in fields(cls)}

    def structure_factory(cls: Any) -> Any:
        structure = make_dict_structure_fn(cls, converter, **names(cls))

        def structure_object(value: object, _: Any) -> Any:
            if not isinstance(value, dict):
                raise TypeError("expected an object")
            return structure(value, cls)

        return structure_object

    converter.register_structure_hook_factory(is_dataclass, structure_factory)
    converter.register_unstructure_hook_factory(
        is_dataclass, lambda cls: make_dict_unstructure_fn(cls, converter, **names(cls))
    )
    return converter


_CONVERTER = _make_converter()
