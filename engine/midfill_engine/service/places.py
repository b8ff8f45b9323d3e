"""Where an engine process keeps its files, by the engine's identity, and that only the user can read them.

An identity is what makes two engines different: preset, device and version. A client of another version thus never
finds an old engine. Knows nothing of sockets beyond how long their path may be.

Lock files are never removed: removing one that somebody waits for would let two processes own the same place.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import tempfile
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import platformdirs

from midfill_engine import __version__
from midfill_engine.api import EngineOptions
from midfill_engine.errors import EngineUnavailable
from midfill_engine.presets import shipped_names

APP = "midfill"
# The shortest limit of the systems we run on (macOS 104, Linux 108), less the closing zero byte.
MAX_SOCKET_PATH = 103


@dataclass(frozen=True, kw_only=True)
class Identity:
    """What makes an engine this engine."""

    preset: str
    device: str
    version: str = __version__

    @property
    def name(self) -> str:
        """A file name for it: readable, and never the same for two identities."""
        digest = hashlib.sha256("\0".join((self.preset, self.device, self.version)).encode("utf-8", "surrogatepass"))
        readable = re.sub(r"[^A-Za-z0-9.]+", "-", Path(self.preset).name)[:24].strip("-.")
        return f"{readable or 'engine'}-{digest.hexdigest()[:12]}"


@dataclass(frozen=True, kw_only=True)
class Places:
    """The files of one engine."""

    directory: Path
    log_directory: Path
    name: str

    @property
    def socket(self) -> Path:
        """The Unix socket; in a short directory of its own where the runtime directory's path is too long for one."""
        path = self.directory / f"{self.name}.sock"
        if len(os.fsencode(path)) <= MAX_SOCKET_PATH:
            return path
        return _short_directory() / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}.sock"

    @property
    def record(self) -> Path:
        return self.directory / f"{self.name}.json"

    @property
    def start_lock(self) -> Path:
        """Held by the client that looks for the engine or starts it."""
        return self.directory / f"{self.name}.start.lock"

    @property
    def owner_lock(self) -> Path:
        """Held by the engine process as long as it lives."""
        return self.directory / f"{self.name}.owner.lock"

    @property
    def log(self) -> Path:
        return self.log_directory / f"{self.name}.log"

    @property
    def stderr(self) -> Path:
        """What the process and its libraries print: where a crash leaves its last words."""
        return self.log_directory / f"{self.name}.stderr"


def canonical(options: EngineOptions) -> EngineOptions:
    """The options with paths that mean the same in every working directory.

    A preset is a folder if its name has a path separator in it (`./model`), or if it is none of ours and there is one.
    """
    folder = Path(options.preset).expanduser()
    has_separator = len(folder.parts) > 1 or options.preset.startswith(".")
    is_folder = has_separator or (options.preset not in shipped_names() and folder.is_dir())
    preset = str(folder.resolve()) if is_folder else options.preset
    runtime_dir = options.runtime_dir.absolute() if options.runtime_dir is not None else None
    return replace(options, preset=preset, runtime_dir=runtime_dir)


def places_of(options: EngineOptions) -> Places:
    """The files of the engine with these options. Makes the directory; EngineUnavailable if it is not private."""
    identity = Identity(preset=canonical(options).preset, device=options.device)
    return places_named(identity.name, options)


def places_named(name: str, options: EngineOptions) -> Places:
    """The files of an engine by its name, which may be one of another version."""
    directory = engine_directory(options)
    return Places(directory=directory, log_directory=_log_directory(options, directory), name=name)


def engine_directory(options: EngineOptions) -> Path:
    """The private directory of all of the user's engines."""
    if options.runtime_dir is not None:
        return private_directory(options.runtime_dir.absolute() / APP)
    with warnings.catch_warnings():
        # It warns where no runtime directory is set up (containers, ssh without a session) and takes another.
        warnings.simplefilter("ignore")
        try:
            return private_directory(platformdirs.user_runtime_path(APP, appauthor=False))
        except PermissionError as error:
            raise EngineUnavailable(str(error)) from None


def private_directory(path: Path) -> Path:
    """Make a directory that only the user can enter, or make sure that it is one.

    Raises:
        EngineUnavailable: it cannot be made, or it is a link or somebody else's, in which case it may be a trap.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        raise EngineUnavailable(f"{path} cannot be used as a directory: {error.strerror}") from None
    if sys.platform == "win32":
        return path  # the profile's own access list keeps others out
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise EngineUnavailable(f"{path} is not a directory of this user; remove it or set XDG_RUNTIME_DIR")
    if found.st_mode & 0o077:
        path.chmod(0o700)
    return path


def _log_directory(options: EngineOptions, directory: Path) -> Path:
    beside = directory / "log"
    if options.runtime_dir is not None:
        return private_directory(beside)
    try:
        return private_directory(platformdirs.user_log_path(APP, appauthor=False))
    except EngineUnavailable:
        return private_directory(beside)


def _short_directory() -> Path:
    owner = 0
    if sys.platform != "win32":
        owner = os.getuid()
    for parent in (tempfile.gettempdir(), "/tmp"):
        path = Path(parent) / f"{APP}-{owner}"
        if len(os.fsencode(path)) + len("/0123456789abcdef.sock") <= MAX_SOCKET_PATH:
            return private_directory(path)
    raise EngineUnavailable("no directory has a path short enough for a socket; set XDG_RUNTIME_DIR to a shorter one")
