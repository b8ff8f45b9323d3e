"""What the client says of itself when it connects, as far as we need it.

Read from plain JSON by hand and with tolerance: a client that gets one of its hundred capabilities wrong is served all
the same, and nothing has to be imported to understand it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from midfill_server.positions import Encoding
from midfill_server.setting_rules import Fallback


@dataclass(frozen=True, kw_only=True)
class ClientFacts:
    """`has_inline_completion` is also true of lsp-mode, which names the capability but gives it no value."""

    name: str = ""
    version: str = ""
    process_id: int | None = None
    encoding: Encoding = Encoding.UTF16
    has_inline_completion: bool = False
    has_configuration: bool = False
    options: object = None

    def wants_completion(self, fallback: Fallback) -> bool:
        """Whether ordinary completion items are the way to show suggestions here."""
        if fallback is Fallback.AUTO:
            return not self.has_inline_completion
        return fallback is Fallback.ON


def facts_of(params: Mapping[str, object]) -> ClientFacts:
    """The facts in the params of `initialize`."""
    capabilities = _object(params.get("capabilities"))
    info = _object(params.get("clientInfo"))
    process_id = params.get("processId")
    return ClientFacts(
        name=_text(info.get("name")),
        version=_text(info.get("version")),
        process_id=process_id if isinstance(process_id, int) and process_id > 0 else None,
        encoding=_encoding(_object(capabilities.get("general")).get("positionEncodings")),
        has_inline_completion="inlineCompletion" in _object(capabilities.get("textDocument")),
        has_configuration=_object(capabilities.get("workspace")).get("configuration") is True,
        options=params.get("initializationOptions"),
    )


def _encoding(offered: object) -> Encoding:
    """The first of the client's encodings that we know; utf-16 is what everybody must know."""
    for name in offered if isinstance(offered, list) else []:
        if name in list(Encoding):
            return Encoding(name)
    return Encoding.UTF16


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
