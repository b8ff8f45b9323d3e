"""Frozen configuration: every default is a legal value, in both packages."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib import import_module

import pytest

import midfill_engine
import midfill_server

NEED_AN_EXTRA = {"midfill_engine.gateway.ray_app"}


def modules() -> Iterator[str]:
    for package in (midfill_engine, midfill_server):
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not found.name.endswith("__main__") and found.name not in NEED_AN_EXTRA:
                yield found.name


def has_default(field: Field[object]) -> bool:
    return not field.init or field.default is not MISSING or field.default_factory is not MISSING


def configurations() -> list[type]:
    """The frozen dataclasses in which every field has a default."""
    found: set[type] = set()
    for name in modules():
        for thing in vars(import_module(name)).values():
            if isinstance(thing, type) and is_dataclass(thing) and thing.__module__ == name:
                is_frozen = thing.__dataclass_params__.frozen  # type: ignore[attr-defined]
                if is_frozen and all(has_default(field) for field in fields(thing)):
                    found.add(thing)
    return sorted(found, key=lambda kind: (kind.__module__, kind.__qualname__))


@pytest.mark.parametrize("kind", configurations(), ids=lambda kind: f"{kind.__module__}.{kind.__qualname__}")
def test_every_default_constructs(kind: type) -> None:
    assert kind() == kind()


def test_there_are_configurations() -> None:
    """The search above finds what it should."""
    names = {kind.__name__ for kind in configurations()}
    assert {"EngineOptions", "Limits", "FillArguments"} <= names
