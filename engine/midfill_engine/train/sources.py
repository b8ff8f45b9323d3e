"""Where training text comes from: wheels and folders of Python packages, each with its version and licence.

Knows archives and metadata; does not judge the text of a file (`cleaning`) nor what is kept of a package (`corpus`).
"""

from __future__ import annotations

import email
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from importlib.metadata import PackageMetadata
from pathlib import Path

ALLOWED_LICENCE = re.compile(
    r"\b(mit|bsd|apache|psf|python software foundation|isc|hpnd|unlicense|0bsd|zpl)\b", re.IGNORECASE
)
REFUSED_LICENCE = re.compile(r"\b(a?gpl|lgpl|gnu|sspl|busl|commons clause|non-?commercial)", re.IGNORECASE)
SKIPPED_PATH = re.compile(
    r"(^|/)(_?vendor(ed)?|_vendored|extern|externals?|third_party|node_modules|locale|migrations|lib2to3/tests|"
    r"graph_objs|validators|_?generated|idlelib/idle_test|test/(encoded|bad)[^/]*|typeshed|site-packages|turtledemo|"
    r"openapi_client|onnx_test|corpora|data|datasets/data|human_?eval|exercism|edit_?eval)/"
    r"|_pb2(_grpc)?\.py$|/pydoc_data/|unicode|/_?cp\d+\.py$|/modular_[^/]+\.py$"
)


@dataclass(frozen=True, kw_only=True)
class Package:
    """One package's Python files, unread by anyone yet."""

    name: str
    version: str
    licence: str
    files: tuple[tuple[str, bytes], ...]  # path inside the package, raw bytes


def is_allowed(licence: str) -> bool:
    """Whether a licence text names only licences that allow training and redistribution of what was learned."""
    return bool(ALLOWED_LICENCE.search(licence)) and not REFUSED_LICENCE.search(licence)


def read_wheel(path: Path) -> Package:
    """The package in a wheel. Raises ValueError where the archive holds no metadata."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        metadata = next((name for name in names if name.endswith(".dist-info/METADATA")), None)
        if metadata is None:
            raise ValueError(f"{path} is not a wheel: it holds no .dist-info/METADATA")
        message = email.message_from_string(archive.read(metadata).decode("utf-8", "replace"))
        files = tuple((name, archive.read(name)) for name in names if is_wanted(name))
    return Package(name=message["Name"].lower(), version=message["Version"], licence=licence_of(message), files=files)


def read_folder(root: Path, name: str, version: str, licence: str) -> Package:
    """The Python files under a folder, as a package whose particulars the caller states."""
    paths = sorted(path for path in root.rglob("*.py") if path.is_file())
    named = ((f"{name}/{path.relative_to(root).as_posix()}", path) for path in paths)
    files = tuple((inner, path.read_bytes()) for inner, path in named if is_wanted(inner))
    return Package(name=name, version=version, licence=licence, files=files)


def read_wheels(folder: Path) -> Iterator[Package]:
    """Every wheel of a folder, by name."""
    for path in sorted(folder.glob("*.whl")):
        yield read_wheel(path)


def is_wanted(path: str) -> bool:
    """Whether a path inside a package is hand-written Python, as far as a path tells."""
    return path.endswith(".py") and not SKIPPED_PATH.search(path)


def licence_of(message: Message | PackageMetadata) -> str:
    """What a package's metadata says of its licence: the expression, else the classifiers, else the licence field."""
    headers = {name.lower(): message[name] for name in ("License-Expression", "License") if name in message}
    if headers.get("license-expression"):
        return str(headers["license-expression"])
    classifiers = [str(line) for line in message.get_all("Classifier") or [] if str(line).startswith("License")]
    names = "; ".join(line.split("::")[-1].strip() for line in classifiers)
    return names or str(headers.get("license") or "unknown").strip().split("\n")[0][:60]
