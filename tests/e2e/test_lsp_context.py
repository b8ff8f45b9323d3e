"""What of other open files comes with a request, over stdio."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.lsp_session import URI, editing, fills
from support.scripted_server import Say

RATES = "def rate_of_country(country):\n    return RATES[country]\n"
HERE = "from rates import rate_of_country\n\ntotal = rate_of_country(country)\nvalue = \n"
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nrate_of_country country\n-----END OPENSSH PRIVATE KEY-----\n"


async def test_another_open_file_that_defines_a_name_comes_along_and_stays_while_typing() -> None:
    async with editing(HERE, Say(text=""), Say(text="")) as client:
        client.open("file:///work/rates.py", RATES, "python")
        await client.inline(URI, 3, 8)
        client.change(URI, 2, "f", (3, 8, 3, 8))
        await client.inline(URI, 3, 9)
        first, second = fills(client)
        assert first["snippets"] == second["snippets"] == [{"path": "rates.py", "text": RATES.strip("\n")}]


@pytest.mark.parametrize("name", [".env", "id_rsa", "secrets.yaml", "notes.txt"])
async def test_secrets_that_are_open_are_in_no_prompt_and_nothing_is_suggested_in_them(name: str) -> None:
    """Row 23 (vscode#335397, cursor#1388): open files with keys were shown to models, and completed. `notes.txt` has a
    key in its text."""
    uri = f"file:///work/{name}"
    async with editing(HERE, Say(text="1")) as client:
        client.open(uri, KEY if name == "notes.txt" else f"rate_of_country: hunter2\ncountry: x\n{RATES}", "plaintext")
        client.notify("textDocument/didFocus", {"textDocument": {"uri": uri}})
        assert await client.inline(uri, 0, 4) == {"items": []}
        await client.status(kind="Inactive")
        assert fills(client) == []
        await client.inline(URI, 3, 8)
        arguments = {"textDocument": {"uri": URI}, "position": {"line": 3, "character": 8}}
        await client.request("workspace/executeCommand", {"command": "midfill.fill", "arguments": [arguments]})
        assert len(fills(client)) >= 2
        assert all(fill["snippets"] == [] for fill in fills(client))
        assert "hunter2" not in str(client.events)


async def test_what_a_repository_ignores_is_neither_context_nor_completed(tmp_path: Path) -> None:
    made = {".git/HEAD": "", ".gitignore": "out/\n", ".midfillignore": "private.py\n"}
    for name, text in made.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    async with editing(HERE, Say(text="1")) as client:
        for name, reason in {"out/rates.py": "ignored by git", "private.py": "excluded by .midfillignore"}.items():
            uri = (tmp_path / name).as_uri()
            client.open(uri, RATES, "python")
            assert await client.inline(uri, 1, 11) == {"items": []}
            await client.status(kind="Inactive", message=reason)
        await client.inline(URI, 3, 8)
        (asked,) = fills(client)
        assert asked["snippets"] == []
