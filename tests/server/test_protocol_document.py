"""docs/PROTOCOL.md says what the code does."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

from lsprotocol import types

from midfill_server.capabilities import COMMANDS
from midfill_server.client_facts import ClientFacts
from midfill_server.documents import SCHEMES
from midfill_server.engine_link import EngineDoor
from midfill_server.features.drafts import METHOD as DRAFT_METHOD
from midfill_server.language_server import make_server
from midfill_server.serving import STATUS_METHOD
from midfill_server.session import make_session
from midfill_server.setting_rules import RULES
from midfill_server.settings import Settings, wire_name
from midfill_server.snapshot import PREFIX_LIMIT, SUFFIX_LIMIT
from midfill_server.status import Kind

DOCUMENT = (Path(__file__).parents[2] / "docs" / "PROTOCOL.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the tables under a heading, without their heads."""
    section = DOCUMENT.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.split("\n") if line.startswith("| `")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_every_method_is_listed_and_every_listed_one_is_there() -> None:
    server = make_server(make_session(ClientFacts(), EngineDoor(), lambda status: None), gives_completion=True)
    registered = {*server.protocol.fm.features, *server.protocol.fm.builtin_features}
    progress = {types.WINDOW_WORK_DONE_PROGRESS_CREATE, types.PROGRESS}
    sent = {
        types.WORKSPACE_CONFIGURATION,
        types.CLIENT_REGISTER_CAPABILITY,
        types.WORKSPACE_APPLY_EDIT,
        STATUS_METHOD,
        DRAFT_METHOD,
        *progress,
    }
    listed = {row[0].strip("`") for row in rows("Methods")}
    assert listed == registered | sent | {types.CANCEL_REQUEST}


def test_every_command_is_listed() -> None:
    server = make_server(make_session(ClientFacts(), EngineDoor(), lambda status: None), gives_completion=True)
    assert {row[0].strip("`") for row in rows("Commands")} == set(server.protocol.fm.commands) == set(COMMANDS)


def test_every_setting_is_listed_with_its_default_and_meaning() -> None:
    expected = [
        [f"`{wire_name(item.name)}`", f"`{json.dumps(getattr(Settings(), item.name))}`", RULES[item.name].about]
        for item in fields(Settings)
    ]
    assert rows("Settings") == expected


def test_numbers_and_names_in_the_text() -> None:
    assert f"{PREFIX_LIMIT:,} characters" in DOCUMENT
    assert f"{SUFFIX_LIMIT:,} after" in DOCUMENT
    assert all(f"`{name}`" in DOCUMENT for name in (*SCHEMES, *Kind))
