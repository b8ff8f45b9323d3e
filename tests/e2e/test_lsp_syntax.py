"""What syntax decides about ghost text, over stdio against the real server around a scripted engine."""

from __future__ import annotations

from support.lsp_session import URI, editing, texts
from support.scripted_server import Say


async def test_what_breaks_the_text_is_not_shown_unasked() -> None:
    """A suggestion that leaves the file broken costs more than it gives."""
    async with editing("x = f()\n", Say(text="a b")) as client:
        assert texts(await client.inline(URI, 0, 6)) == []


async def test_who_asks_gets_what_breaks_the_text_last() -> None:
    async with editing("x = f()\n", Say(text="a b", others=("a, b",))) as client:
        assert texts(await client.inline(URI, 0, 6, kind=1)) == ["a, b", "a b"]
