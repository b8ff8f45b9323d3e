"""Where a remote engine is, how a connection to it is made, and which key it is shown.

A key comes from the environment or the system's keyring, never from a settings file, and never goes over the wire in
clear. What stays on this machine never sees a proxy, whatever the environment says.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from midfill_engine.api import EngineOptions, RemoteKind
from midfill_engine.errors import PresetError

if TYPE_CHECKING:
    import httpx2

KEY_VARIABLE = "MIDFILL_REMOTE_KEY"
URL_VARIABLE = "MIDFILL_REMOTE_URL"
KIND_VARIABLE = "MIDFILL_REMOTE_KIND"
MODEL_VARIABLE = "MIDFILL_REMOTE_MODEL"
KEYRING_SERVICE = "midfill"
CONNECT_PATIENCE_S = 5.0


@dataclass(frozen=True, kw_only=True)
class Place:
    """A remote engine's address. `url` has no slash at its end."""

    url: str
    kind: RemoteKind
    model: str = ""
    key: str = ""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise PresetError(f"remoteUrl must be like http://127.0.0.1:8012, got {self.url!r}")
        if parts.username or parts.password:
            raise PresetError(f"remoteUrl must not hold a key: put it into {KEY_VARIABLE}")
        if self.key and parts.scheme == "http" and not self.is_loopback:
            raise PresetError(f"the key would go to {parts.hostname} in clear: use https")

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    def path(self, path: str) -> str:
        """The whole address of a path of version 1 of an API, whether the user's URL ends with the version or not."""
        base = self.url.removesuffix("/v1") if path.startswith("/v1/") else self.url
        return base + path


def is_loopback(host: str) -> bool:
    """Whether a host is this very machine, by its name alone."""
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def place_of(options: EngineOptions, environ: Mapping[str, str] = os.environ) -> Place:
    """The place that settings name, or where they name none, the environment.

    Raises:
        PresetError: none, or what is wrong with it.
    """
    url = options.remote_url or environ.get(URL_VARIABLE, "")
    if not url:
        raise PresetError(f"the preset remote needs the address of a server: set remoteUrl, or {URL_VARIABLE}")
    kind = options.remote_kind
    if not options.remote_url and KIND_VARIABLE in environ:
        kind = kind_of(environ[KIND_VARIABLE])
    place = Place(url=url.rstrip("/"), kind=kind, model=options.remote_model or environ.get(MODEL_VARIABLE, ""))
    return Place(url=place.url, kind=place.kind, model=place.model, key=_key_of(place.host, environ))


def kind_of(name: str) -> RemoteKind:
    """Raises PresetError where there is no such kind."""
    try:
        return RemoteKind(name)
    except ValueError:
        raise PresetError(f"remoteKind must be one of {', '.join(RemoteKind)}, got {name!r}") from None


def open_client(place: Place) -> httpx2.AsyncClient:
    """A client for one place. Redirects are not followed: they could lead the text anywhere."""
    http: Any = import_module("httpx2")
    headers = {"authorization": f"Bearer {place.key}"} if place.key else {}
    client: httpx2.AsyncClient = http.AsyncClient(
        trust_env=not place.is_loopback,
        follow_redirects=False,
        headers=headers,
        timeout=http.Timeout(None, connect=CONNECT_PATIENCE_S),
    )
    return client


def _key_of(host: str, environ: Mapping[str, str]) -> str:
    if KEY_VARIABLE in environ:
        return environ[KEY_VARIABLE].strip()
    # The keyring is used where it is installed; one that is locked or broken holds no key.
    with suppress(Exception):
        return str(import_module("keyring").get_password(KEYRING_SERVICE, host) or "")
    return ""
