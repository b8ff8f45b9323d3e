"""`midfill gateway` as a process, before a scripted engine process or the shipped model's."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2

from midfill_engine.api import EngineOptions, stop_engine
from support.scripted import PATIENCE_S

GATEWAY = [sys.executable, "-P", "-m", "midfill_server.cli", "gateway"]
SLOW_S = 6 * PATIENCE_S  # the shipped model is loaded on the way


@asynccontextmanager
async def running(folder: Path, *arguments: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """The process and its first line on stderr."""
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "XDG_STATE_HOME": str(folder)}
    process = await asyncio.create_subprocess_exec(*GATEWAY, *arguments, stderr=asyncio.subprocess.PIPE, env=environ)
    assert process.stderr is not None
    try:
        yield process, (await asyncio.wait_for(process.stderr.readline(), PATIENCE_S)).decode()
        await asyncio.wait_for(process.stderr.read(), PATIENCE_S)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def check_refused(folder: Path, arguments: Sequence[str], reason: str) -> None:
    async with running(folder, *arguments) as (process, line):
        assert reason in line
        assert await asyncio.wait_for(process.wait(), PATIENCE_S) in (1, 2)


async def test_the_shipped_model_fills_for_a_plugin_and_ctrl_c_ends_it_quietly(tmp_path: Path) -> None:
    async with running(tmp_path, "--port", "0") as (process, line):
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found, line
        body = {"input_prefix": "def add(a, b):\n", "input_suffix": "\n\nprint(add(1, 2))\n", "prompt": "    return "}
        try:
            async with httpx2.AsyncClient(base_url=found[0], trust_env=False, timeout=SLOW_S) as http:
                response = await http.post("/infill", json=body)
                models = (await http.get("/v1/models")).json()
        finally:
            await _stop(tmp_path)
        assert response.status_code == 200, response.text
        assert response.json()["model"] == models["data"][0]["id"] == "pocket"
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 130


async def test_what_would_leave_it_open_to_others_is_refused(tmp_path: Path) -> None:
    await check_refused(tmp_path, ["--host", "0.0.0.0"], "give a token")
    empty = tmp_path / "token"
    empty.write_text("\n")
    await check_refused(tmp_path, ["--token-file", str(empty)], "holds no token")


async def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        await check_refused(tmp_path, ["--port", port], f"127.0.0.1:{port} cannot be listened on")


async def _stop(folder: Path) -> None:
    former = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    try:
        await stop_engine(EngineOptions())
    finally:
        if former is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = former
