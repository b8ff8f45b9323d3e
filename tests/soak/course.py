"""Hours of typing in minutes: the real server, the real engine process and the shipped model, and what goes wrong.

    bash tests/soak/run --minutes 30

Ten files of the standard library are edited at 8 keys/s; requests are cancelled at random, suggestions accepted,
engines killed. At the end every text must be equal on both sides, every request answered, memory flat,
nothing left behind.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import importlib.util
import json
import os
import random
import re
import signal
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from midfill_engine import api
from midfill_engine.api import EngineError
from soak.editor import SoakEditor
from soak.keys import Page, Typist
from soak.memory import Memory
from soak.report import Report, check

KEYS_PER_S = 8.0
SERVER = [sys.executable, "-W", "error", "-m", "midfill_server"]
MODULES = ("textwrap", "bisect", "heapq", "shlex", "fnmatch", "glob", "sched", "colorsys", "graphlib", "string")
LOAD_PATIENCE_S = 180.0
ANSWER_PATIENCE_S = 30.0
STRETCH_KEYS = 60
DIGEST = re.compile(r"asked about (\S+), version (\d+), sha256 (\w+)")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """`kill_every_s`: how long an engine lives."""

    minutes: float = 30.0
    seed: int = 7

    @property
    def seconds(self) -> float:
        return self.minutes * 60

    @property
    def kill_every_s(self) -> float:
        return min(180.0, self.seconds / 4)

    @property
    def last_kill_s(self) -> float:
        """The last engine lives long enough to show whether its memory is flat."""
        return self.seconds * 0.6


@dataclass
class Watch:
    """What is seen of the processes meanwhile."""

    server: Memory
    engines: dict[int, Memory] = field(default_factory=dict)
    num_killed: int = 0

    async def look(self) -> None:
        self.server.look()
        for status in await _engines():
            self.engines.setdefault(status.pid, Memory(status.pid)).look()

    async def kill(self) -> None:
        for status in await _engines():
            os.kill(status.pid, signal.SIGKILL)
            self.num_killed += 1


async def _engines() -> tuple[api.EngineStatus, ...]:
    try:
        return tuple(status for status in await api.engine_statuses() if status.pid)
    except EngineError:
        return ()


def pages() -> list[Page]:
    """Ten files, one with \\r\\n at its line ends, one with bare \\r."""
    made = []
    for number, name in enumerate(MODULES):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        text = Path(spec.origin).read_text(encoding="utf-8")[:30_000]
        eol = {3: "\r\n", 6: "\r"}.get(number, "\n")
        made.append(Page(f"file:///soak/{name}.py", text.replace("\n", eol)))
    return made


class Soak:
    """One run."""

    def __init__(self, plan: Plan, editor: SoakEditor, rng: random.Random) -> None:
        self.plan = plan
        self.editor = editor
        self.rng = rng
        self.typist = Typist(rng, KEYS_PER_S)
        self.pages = pages()
        self.watch = Watch(Memory(editor.process.pid))
        self.num_keys = 0

    async def begin(self) -> None:
        capabilities = {"general": {"positionEncodings": ["utf-16"]}, "workspace": {"configuration": True}}
        inline = {"textDocument": {"inlineCompletion": {"dynamicRegistration": False}}}
        await self.editor.initialize(capabilities | inline)
        for page in self.pages:
            self.editor.open_page(page)
        await self.editor.status(patience_s=LOAD_PATIENCE_S, kind="Normal", busy=False)

    async def type(self) -> None:
        """All keys, with a look at the processes every second and a killed engine now and then."""
        end = time.monotonic() + self.plan.seconds
        watching = asyncio.ensure_future(self._watch())
        try:
            while time.monotonic() < end:
                await self._stretch(self.rng.choice(self.pages), end)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _stretch(self, page: Page, end: float) -> None:
        due = time.monotonic()
        for number, edit in enumerate(self.typist.stretch(page)):
            if number > STRETCH_KEYS or time.monotonic() > end:
                return
            self.editor.press(page, edit)
            self.num_keys += 1
            request_id = self.editor.ask_for(page)
            due = max(due, time.monotonic() - 1.0) + self.typist.pause_s()
            await asyncio.sleep(max(due - time.monotonic(), 0))
            if self.rng.random() < 0.15:
                self.editor.cancel(request_id)
            if self.rng.random() < 0.03:
                await self.editor.look(request_id)
            if self.rng.random() < 0.5:
                self.editor.accept()

    async def _watch(self) -> None:
        began = time.monotonic()
        next_kill = began + self.plan.kill_every_s
        while True:
            await self.watch.look()
            if next_kill < time.monotonic() < began + self.plan.last_kill_s:
                await self.watch.kill()
                next_kill = time.monotonic() + self.plan.kill_every_s
            await asyncio.sleep(1.0)

    async def texts_equal(self, log: Path) -> int:
        """Of how many files the server's text is the editor's: it tells a digest of each at level debug."""
        # Pushed, for it holds from the next message on: what the server asks for may come after the first request.
        self.editor.notify("workspace/didChangeConfiguration", {"settings": {"midfill": {"logLevel": "debug"}}})
        for page in self.pages:
            await self.editor.invoked(page)
        told = {uri: digest for uri, _version, digest in DIGEST.findall(_read(log))}
        ours = {page.uri: hashlib.sha256(page.text.encode()).hexdigest() for page in self.pages}
        differing = [uri for uri, digest in ours.items() if told.get(uri) != digest]
        print(*(f"{uri}: {told.get(uri, 'never asked about')}" for uri in differing), sep="\n", file=sys.stderr)
        return len(ours) - len(differing)

    async def leave(self) -> float:
        """Seconds from goodbye to the end of the process."""
        await self.editor.request("shutdown")
        self.editor.notify("exit")
        return (await self.editor.ended())[1]


async def at_rest(editor: SoakEditor) -> dict[str, Any]:
    """The server's numbers once it does nothing any more, or what they are after long enough."""
    for _try in range(100):
        found = await editor.stats()
        if found["runningFills"] == 0:
            break
        await asyncio.sleep(0.1)
    await asyncio.sleep(1.0)  # a fill that was stopped ends its connection
    return await editor.stats()


async def soak(plan: Plan, home: Path) -> Report:
    """Type, and say what came of it."""
    log = home / "server.log"
    with log.open("wb") as stderr:
        async with SoakEditor.run(SERVER, stderr=stderr) as editor:
            assert isinstance(editor, SoakEditor)
            run = Soak(plan, editor, random.Random(plan.seed))
            await run.begin()
            before = await at_rest(editor)
            await run.type()
            num_unanswered = await editor.all_answered(ANSWER_PATIENCE_S)
            after = await at_rest(editor)
            num_equal = await run.texts_equal(log)
            children = psutil.Process(editor.process.pid).children(recursive=True)
            leave_s = await run.leave()
    engine_pids = {status.pid for status in await _engines()}
    strays = [child.pid for child in children if child.is_running() and child.pid not in engine_pids]
    await api.stop_engine(every=True)
    left = _processes_of_this_run()
    return Report(
        minutes=plan.minutes,
        keys=run.num_keys,
        requests=editor.num_asked,
        cancelled=editor.num_cancelled,
        answered_with_error=editor.num_errors,
        offered=editor.num_offered,
        accepted=editor.num_accepted,
        accepted_counted=after["accepted"],
        unanswered=num_unanswered,
        latency_ms_p50=_percentile(editor.latencies_ms, 50),
        latency_ms_p95=_percentile(editor.latencies_ms, 95),
        engines_killed=run.watch.num_killed,
        engines_seen=len(run.watch.engines),
        texts=len(run.pages),
        texts_equal=num_equal,
        tasks_before=before["tasks"],
        tasks_after=after["tasks"],
        running_fills=after["runningFills"],
        open_documents=after["openDocuments"],
        server_mib=run.watch.server.most_mib,
        server_growth_mib=run.watch.server.growth_mib,
        server_slope_mib_per_h=run.watch.server.slope_mib_per_h,
        engine_mib=max((each.most_mib for each in run.watch.engines.values()), default=0.0),
        engine_life_s=_longest(run.watch).seconds,
        engine_growth_mib=_longest(run.watch).growth_mib,
        engine_slope_mib_per_h=_longest(run.watch).slope_mib_per_h,
        leave_s=leave_s,
        strays=len(strays),
        left=len(left),
    )


def _read(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")


def _longest(watch: Watch) -> Memory:
    return max(watch.engines.values(), key=lambda each: each.seconds, default=Memory(0))


def _percentile(values: list[float], percent: int) -> float:
    return statistics.quantiles(values * 2, n=100, method="inclusive")[percent - 1] if values else 0.0


def _processes_of_this_run() -> list[int]:
    """Processes that were started with this run's runtime directory, but for this one."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get("XDG_RUNTIME_DIR") == os.environ["XDG_RUNTIME_DIR"]:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def homes(home: Path) -> dict[str, str]:
    """Environment variables that keep a run apart from the user's own engines and statistics."""
    made = {}
    for variable in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        place = home / variable[4:].lower()
        place.mkdir(mode=0o700)
        made[variable] = str(place)
    return made


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=Plan.minutes)
    parser.add_argument("--seed", type=int, default=Plan.seed)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="midfill-soak-") as name:
        home = Path(name)
        os.environ |= homes(home)
        report = asyncio.run(soak(Plan(minutes=given.minutes, seed=given.seed), home))
    faults = check(report)
    print(report.table(), *(f"FAULT: {fault}" for fault in faults), sep="\n")
    print(json.dumps(report.figures() | {"faults": faults}))
    return 1 if faults else 0
