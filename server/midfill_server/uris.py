"""From uris to places, as all clients write them: percent-encoded, with drives, with hosts, with schemes of editors.

`file:///c%3A/a`, `file:///C:/a` and `file:///c:/a` are one place; `vscode-notebook-cell:/a/n.ipynb#c` lies in `file:///a`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

DRIVE = re.compile(r"/?([A-Za-z]):(?=/|$)")
LOCAL_HOSTS = frozenset({"", "localhost"})


def path_of(uri: str) -> str:
    """The path in a uri, unquoted, with slashes, a drive's letter small; empty for what is no uri."""
    try:
        path = unquote(urlsplit(uri).path).replace("\\", "/")
    except ValueError:
        return ""
    drive = DRIVE.match(path)
    return f"{drive[1].lower()}:{path[drive.end() :]}" if drive else path


def place_of(uri: str) -> tuple[str, str]:
    """The host, empty for this machine, and the path without a slash at its end; equal for one place."""
    try:
        host = unquote(urlsplit(uri).netloc).lower()
    except ValueError:
        return "", ""
    path = path_of(uri).rstrip("/")
    return "" if host in LOCAL_HOSTS else host, path.lower() if DRIVE.match(path) else path


def is_inside(uri: str, folder: str) -> bool:
    """Whether a document lies in a folder, or in one inside it."""
    (host, path), (folder_host, folder_path) = place_of(uri), place_of(folder)
    return host == folder_host and path.startswith(f"{folder_path}/")


def local_path(uri: str) -> Path | None:
    """Where a uri is on this machine's disks; None for what is elsewhere or nowhere."""
    try:
        scheme = urlsplit(uri).scheme.lower()
    except ValueError:
        return None
    (host, _), path = place_of(uri), path_of(uri)
    if scheme != "file" or "\0" in path or not path:
        return None
    if sys.platform == "win32":
        return Path(f"//{host}{path}" if host else path)
    return None if host or not path.startswith("/") else Path(path)


def uri_of(path: str) -> str:
    """The uri of an absolute path, as old clients name their folder."""
    slashed = path.replace("\\", "/") if DRIVE.match(path.replace("\\", "/")) else path
    return "file://" + quote(slashed if slashed.startswith("/") else f"/{slashed}")
