"""The editor's settings are the server's: same names, same defaults, each documented, none forgotten."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from midfill_server.setting_rules import USER_ONLY
from midfill_server.settings import NAMES, Settings, parse, wire_name

EXTENSION = Path(__file__).parents[3] / "editors/vscode"


def schema() -> dict[str, dict[str, object]]:
    package = json.loads((EXTENSION / "package.json").read_text("utf-8"))
    parts = package["contributes"]["configuration"]
    return {key.removeprefix("midfill."): rule for part in parts for key, rule in part["properties"].items()}


def test_the_manifest_has_the_settings_of_today() -> None:
    written = [sys.executable, str(EXTENSION / "scripts/write_settings.py"), "--check"]
    checked = subprocess.run(written, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_every_setting_of_the_server_is_there_and_only_two_are_the_clients_own() -> None:
    assert set(schema()) - set(NAMES) == {"command", "liveDrafts"}
    assert set(NAMES) <= set(schema())


def test_the_defaults_say_what_saying_nothing_says() -> None:
    """The server takes every default of the manifest without a complaint, and it changes nothing."""
    complaints: list[str] = []
    told = {name: rule["default"] for name, rule in schema().items() if name in NAMES}
    assert parse(told, Settings(), complaints.append) == Settings()
    assert complaints == []


def test_the_bounds_are_the_servers() -> None:
    """What the editor lets pass, the server takes; one more, and it does not."""
    for item in fields(Settings):
        wire = next(key for key, name in NAMES.items() if name == item.name)
        if "maximum" not in schema()[wire]:
            continue
        for bound, step in (("minimum", -1), ("maximum", 1)):
            complaints: list[str] = []
            value = schema()[wire][bound]
            assert isinstance(value, int)
            parse({wire: value}, Settings(), complaints.append)
            assert complaints == []
            parse({wire: value + step}, Settings(), complaints.append)
            assert len(complaints) == 1


def test_a_workspace_cannot_set_where_the_text_goes() -> None:
    """VS Code takes a setting of scope "machine" from the user alone, whatever a workspace's settings.json says."""
    assert {wire_name(name) for name in USER_ONLY} == {
        k for k, rule in schema().items() if rule.get("scope") == "machine"
    }
