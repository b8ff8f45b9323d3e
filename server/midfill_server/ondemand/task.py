"""What is to be filled, settled before the model is asked."""

from __future__ import annotations

from dataclasses import dataclass

from midfill_engine.api import Mode
from midfill_server.ondemand.place import Place


@dataclass(frozen=True, kw_only=True)
class Hole:
    """A place, and what is given there: what comes in place of it is `lead`, then the model's middle, then `tail`.

    `hint` is read by the model before `lead` and is no part of the document. Line ends are \\n.
    """

    place: Place
    lead: str = ""
    tail: str = ""
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class Task:
    """Holes, in the order of the document. `selection`: what stood there, for a model that can read it.

    `remark`: what people should know of it, if anything. `is_strict`: nothing is better than what breaks the text.
    """

    title: str
    holes: tuple[Hole, ...]
    mode: Mode = Mode.AUTO
    selection: str = ""
    instruction: str = ""
    needs_confirmation: bool = False
    remark: str = ""
    is_strict: bool = False


class NothingToDo(Exception):  # noqa: N818 - an outcome that people are told, no failure
    """Why a task cannot be made of an order."""
