"""The models that can be chosen, whether their weights are there and whether they fit."""

from __future__ import annotations

from collections.abc import Iterator

from midfill_engine import api
from midfill_engine.api import ModelCard
from midfill_server.commands.doctor.finding import Case, Finding, Level


def check(case: Case) -> Iterator[Finding]:
    """All known models; the chosen one has to be there."""
    cards = api.model_cards([case.options.preset])
    yield from (_card(card, is_chosen=card.name == case.options.preset) for card in cards)
    if case.options.preset not in {card.name for card in cards}:
        names = ", ".join(card.name for card in cards)
        told = f"{case.options.preset} is neither a model nor a folder with one"
        yield Finding(topic="models", told=told, level=Level.BROKEN, remedy=f"set midfill.preset to one of {names}")


def _card(card: ModelCard, is_chosen: bool) -> Finding:
    parts = [card.name + (" (chosen)" if is_chosen else ""), card.size or "no weights here", card.fit, card.licence]
    told = ", ".join(part for part in parts if part)
    if is_chosen and card.fit.startswith("too big"):
        return Finding(topic="models", told=told, level=Level.BROKEN, remedy='set midfill.preset to "pocket"')
    return Finding(topic="models", told=told)
