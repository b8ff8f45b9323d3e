"""The argument of a command, checked: whatever a client sends, it is understood or it is said what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from midfill_server.documents import Span
from midfill_server.ondemand.task import NothingToDo


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a client asks for. `version`: of the document it means, if it says so."""

    uri: str
    version: int | None = None
    span: Span | None = None
    instruction: str = ""


def parse_order(arguments: tuple[object, ...]) -> Order:
    """The order in the arguments of a command.

    Raises:
        NothingToDo: what is wrong with them.
    """
    argument = arguments[0] if arguments else None
    if len(arguments) != 1 or not isinstance(argument, Mapping):
        raise NothingToDo("one argument is needed: an object with textDocument")
    document = argument.get("textDocument")
    if not isinstance(document, Mapping) or not isinstance(document.get("uri"), str):
        raise NothingToDo("textDocument must be an object with a uri")
    version = document.get("version")
    instruction = argument.get("instruction")
    return Order(
        uri=document["uri"],
        version=version if _is_number(version) else None,
        span=_span(argument),
        instruction=instruction.strip() if isinstance(instruction, str) else "",
    )


def _span(argument: Mapping[object, object]) -> Span | None:
    """The range, or the position as an empty one."""
    if (whole := argument.get("range")) is not None:
        ends = (whole.get("start"), whole.get("end")) if isinstance(whole, Mapping) else (None, None)
        (line, character), (end_line, end_character) = _position(ends[0], "range"), _position(ends[1], "range")
        return Span(line, character, end_line, end_character)
    if (position := argument.get("position")) is not None:
        line, character = _position(position, "position")
        return Span(line, character, line, character)
    return None


def _position(value: object, name: str) -> tuple[int, int]:
    line, character = (value.get("line"), value.get("character")) if isinstance(value, Mapping) else (None, None)
    if not _is_number(line) or not _is_number(character):
        raise NothingToDo(f"{name} must be made of line and character")
    return line, character


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
