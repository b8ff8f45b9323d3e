"""Neovim's own protocol, msgpack-RPC over the pipes of an embedded process: as much of it as tests need."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import msgpack

from support.scripted import PATIENCE_S

REQUEST, RESPONSE = 0, 1
CHUNK = 2**16


class NvimError(Exception):
    """Neovim has answered with an error."""


class Rpc:
    """One embedded Neovim. Requests are answered one at a time, in order; what it tells by itself is not looked at."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(env))
        self._unpacker = msgpack.Unpacker(raw=False, unicode_errors="surrogateescape", strict_map_key=False)
        self._next_id = 0

    def call(self, method: str, *params: Any) -> Any:
        """The result of one of Neovim's API functions; NvimError if it fails."""
        request_id = self.send(method, *params)
        while True:
            for message in self._unpacker:
                if message[0] == RESPONSE and message[1] == request_id:
                    if message[2] is not None:
                        raise NvimError(message[2])
                    return message[3]
            self._unpacker.feed(self._read())

    def send(self, method: str, *params: Any) -> int:
        """Ask and wait for nothing."""
        self._next_id += 1
        assert self.process.stdin is not None
        self.process.stdin.write(msgpack.packb([REQUEST, self._next_id, method, params]))
        self.process.stdin.flush()
        return self._next_id

    def leave(self) -> None:
        """Wait until the process has ended by itself."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            while select.select([self.process.stdout], [], [], PATIENCE_S)[0]:
                if not os.read(self.process.stdout.fileno(), CHUNK):
                    break
            self.process.wait(PATIENCE_S)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()

    def _read(self) -> bytes:
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], PATIENCE_S)[0]:
            raise NvimError("no answer: Neovim waits for a key, or for somebody to read a message")
        data = os.read(self.process.stdout.fileno(), CHUNK)
        if not data:
            raise NvimError("Neovim has ended")
        return data
