"""What is shown unasked, and what is held back until something of it has been typed."""

from __future__ import annotations

import pytest

from support.lsp_session import URI, editing, fills, texts
from support.scripted_server import Say


async def test_what_the_model_is_not_sure_of_is_shown_only_to_who_asks() -> None:
    unsure, again = Say(text="total", confidence=0.02), Say(text="total", others=("other",), confidence=0.02)
    async with editing("x = \n", unsure, again) as client:
        assert texts(await client.inline(URI, 0, 4, kind=2)) == []
        assert texts(await client.inline(URI, 0, 4, kind=1)) == ["total", "other"]


async def test_the_setting_decides_how_sure_is_sure_enough() -> None:
    async with editing("x = \n", Say(text="total", confidence=0.02), options={"minConfidence": 0}) as client:
        assert texts(await client.inline(URI, 0, 4)) == ["total"]


async def test_an_unsure_suggestion_is_shown_when_its_beginning_is_typed() -> None:
    """No further question to the engine: the letter that was typed is what was missing."""
    async with editing("x = \n", Say(text="total", confidence=0.02)) as client:
        assert texts(await client.inline(URI, 0, 4)) == []
        client.change(URI, 2, "t", at=(0, 4, 0, 4))
        assert texts(await client.inline(URI, 0, 5)) == ["otal"]
        assert len(fills(client)) == 1


async def test_who_types_something_else_gets_the_next_best() -> None:
    """The engine's further drafts are kept: one of them may begin with what was typed."""
    said = Say(text="total", spares=(("count", 0.3), ("width", 0.02)))
    for typed, rest in (("c", "ount"), ("w", "idth"), ("t", "otal")):
        async with editing("x = \n", said) as client:
            assert texts(await client.inline(URI, 0, 4)) == ["total"]
            client.change(URI, 2, typed, at=(0, 4, 0, 4))
            assert texts(await client.inline(URI, 0, 5)) == [rest]
            assert len(fills(client)) == 1


async def test_where_the_best_would_break_the_text_the_next_best_is_shown() -> None:
    async with editing("x = f(1)\ny = \nz = 3\n", Say(text="g(])", spares=(("g(2)", 0.3),))) as client:
        assert texts(await client.inline(URI, 1, 4)) == ["g(2)"]


@pytest.mark.parametrize("kind", [1, 2])
async def test_spares_are_not_offered_beside_what_was_asked_for(kind: int) -> None:
    async with editing("x = \n", Say(text="total", spares=(("count", 0.9),))) as client:
        assert texts(await client.inline(URI, 0, 4, kind=kind)) == ["total"]
