"""Writes the server's settings into package.json, so that the editor knows, checks and documents them.

    python editors/vscode/scripts/write_settings.py            write
    python editors/vscode/scripts/write_settings.py --check    fail if something would change

The section titled "Suggestions" is made here; the rest of package.json is left as it is.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from midfill_server.setting_rules import RULES, USER_ONLY, Rule
from midfill_server.settings import SECTION, Settings, wire_name

PACKAGE = Path(__file__).parents[1] / "package.json"
TITLE = "Suggestions"


def main(argv: list[str]) -> int:
    """The exit code."""
    before = PACKAGE.read_text("utf-8")
    after = with_settings(before)
    if argv == ["--check"]:
        if before != after:
            print(f"{PACKAGE.name} has other settings than the server: run {Path(__file__).name}", file=sys.stderr)
        return int(before != after)
    PACKAGE.write_text(after, "utf-8")
    return 0


def with_settings(text: str) -> str:
    """package.json's text with the server's settings of today, written as it was but for them."""
    package = json.loads(text)
    parts = package["contributes"]["configuration"]
    kept = [part for part in parts if part["title"] != TITLE]
    wanted = [*kept, {"title": TITLE, "properties": properties()}]
    if parts == wanted:
        return text
    package["contributes"]["configuration"] = wanted
    return json.dumps(package, indent=2, ensure_ascii=False) + "\n"


def properties() -> dict[str, Any]:
    """A JSON schema for each setting."""
    defaults = {item.name: item.default for item in fields(Settings)}
    return {
        f"{SECTION}.{wire_name(name)}": {
            **_shape(default, RULES[name]),
            **({"scope": "machine"} if name in USER_ONLY else {}),
            "default": list(default) if isinstance(default, tuple) else default,
            "markdownDescription": RULES[name].about,
        }
        for name, default in defaults.items()
    }


def _shape(default: object, rule: Rule) -> dict[str, Any]:
    if isinstance(default, bool):
        return {"type": "boolean"}
    if isinstance(default, int):
        return {"type": "integer", **_bounds(rule)}
    if isinstance(default, float):
        return {"type": "number", **_bounds(rule)}
    if isinstance(default, StrEnum):
        return {"type": "string", "enum": list(type(default))}
    if isinstance(default, tuple):
        return {"type": "array", "items": {"type": "string"}}
    if isinstance(default, str):
        bounds = _bounds(rule)
        return {"type": ["integer", "string"], "pattern": f"^{default}$", **bounds} if bounds else {"type": "string"}
    raise TypeError(f"no shape for {default!r}")


def _bounds(rule: Rule) -> dict[str, int]:
    """The bounds that a number's rule names when it refuses; none where something else may be set."""
    try:
        rule.check(None)
    except ValueError as error:
        numbers = re.findall(r"-?\d+", str(error))
        return dict(zip(("minimum", "maximum"), map(int, numbers), strict=True)) if numbers else {}
    raise TypeError("the rule takes anything")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
