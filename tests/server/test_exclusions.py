"""Where nothing is suggested."""

from __future__ import annotations

import pytest

from midfill_server.documents import Document, Edit, Span
from midfill_server.exclusions import why_off, why_off_in
from midfill_server.positions import Encoding
from midfill_server.settings import Settings

CONFIGS = (".env", ".env.local", "prod.env", ".ENV", "%2Eenv", "prod.tfvars")
KEYS = ("id_rsa", "id_ed25519.pub", "server.pem", "a.key", "vault.kdbx")
SECRET_NAMES = (*CONFIGS, *KEYS, "secrets.yaml", "credentials.json", ".netrc", ".npmrc")


@pytest.mark.parametrize("name", SECRET_NAMES)
@pytest.mark.parametrize("base", ["file:///home/me/", "vscode-remote://box/srv/", "untitled:"])
def test_files_with_secrets_are_off(base: str, name: str) -> None:
    """Row 23 (vscode#335397): keys were sent to models and completed."""
    assert "secrets" in why_off(base + name, "plaintext", Settings())


@pytest.mark.parametrize(
    "uri",
    [
        "file:///a.py",
        "file:///env/a.py",
        "file:///keys/monkey.py",
        "file://",
        "untitled:Untitled-1",
        "file:///c%3A/x.py",
    ],
)
def test_other_files_are_on(uri: str) -> None:
    assert why_off(uri, "python", Settings()) == ""


@pytest.mark.parametrize(
    ("glob", "is_off"),
    [("*.py", True), ("gen/*", True), ("**/gen/**", True), ("/home/me/gen/*", True), ("gen", False), ("*.js", False)],
)
def test_globs_of_the_user(glob: str, is_off: bool) -> None:
    reason = why_off("file:///home/me/gen/a.py", "python", Settings(exclude_globs=(glob,)))
    assert bool(reason) is is_off


def test_switches() -> None:
    assert why_off("file:///a.py", "python", Settings(enabled=False)) == "switched off"
    assert why_off("file:///a.md", "markdown", Settings(languages_off=("markdown",))) == "switched off for markdown"
    assert why_off("file:///a.py", "python", Settings(languages_off=("markdown",))) == ""


def test_a_file_over_the_size_is_off_until_it_is_smaller() -> None:
    settings = Settings(max_file_size=9)
    document = Document("file:///a.py", "python", 1, "a\r\nb\nc\n")
    assert why_off_in(document, settings) == ""
    document.apply([Edit("xyz", Span(1, 0, 1, 0))], 2, Encoding.UTF16)
    assert why_off_in(document, settings) == "off in files of more than 9 characters"
    document.apply([Edit("", Span(0, 0, 2, 0))], 3, Encoding.UTF16)
    assert why_off_in(document, settings) == ""
    assert document.num_characters == len(document.text)
