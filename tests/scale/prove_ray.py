"""Proves the Ray Serve application with the shipped model on one machine: two replicas, one of them killed under load.

    pip install 'midfill[ray]' && python tests/scale/prove_ray.py

Not part of the test suite: Ray is an extra and takes its time to start. Prints one line per promise and a JSON line
with the figures; the exit code says whether all held.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable

import httpx2
import ray
from ray import serve

from midfill_engine import wire
from midfill_engine.api import FillRequest
from midfill_engine.gateway.ray_app import REPLICA, Cluster, build

URL = "http://127.0.0.1:8000"
CLIENTS, ROUNDS = 6, 8
PATIENCE_S = 90.0


def body(number: int) -> dict[str, object]:
    prefix = f"# document {number}\ndef add(a, b):\n"
    return {"input_prefix": prefix, "input_suffix": "\n\nprint(add(1, 2))\n", "prompt": "    return ", "n_predict": 16}


async def pid_of(number: int) -> int:
    """Which process fills for a document."""
    request = FillRequest(prefix=str(body(number)["input_prefix"]) + "    return ", suffix="\n")
    handle = serve.get_deployment_handle(REPLICA, app_name="default").options(multiplexed_model_id=f"document-{number}")
    return int((await handle.fill.remote(wire.to_wire(request)))["pid"])


async def pids() -> set[int]:
    return {await pid_of(number) for number in range(12)}


async def load(http: httpx2.AsyncClient, at_half: Callable[[], object] = lambda: None) -> tuple[Counter[int], float]:
    """Clients that ask again and again; what statuses they saw, and the longest wait."""
    statuses: Counter[int] = Counter()
    waits: list[float] = []

    async def client(number: int) -> None:
        for round_number in range(ROUNDS):
            if number == 0 and round_number == ROUNDS // 2:
                at_half()
            began = time.perf_counter()
            response = await http.post("/infill", json=body(number))
            statuses[response.status_code] += 1
            waits.append(time.perf_counter() - began)

    async with asyncio.TaskGroup() as group:
        for number in range(CLIENTS):
            group.create_task(client(number))
    return statuses, max(waits)


async def until_there_are(number: int) -> float:
    """Seconds until that many replicas answer."""
    began = time.perf_counter()
    while time.perf_counter() - began < PATIENCE_S:
        replicas = serve.status().applications["default"].deployments[REPLICA].replica_states
        if replicas.get("RUNNING", 0) >= number and sum(replicas.values()) == number:
            return time.perf_counter() - began
        await asyncio.sleep(0.25)
    raise AssertionError(f"there are not {number} replicas after {PATIENCE_S} s")


async def prove() -> dict[str, object]:
    figures: dict[str, object] = {}
    every = CLIENTS * ROUNDS
    async with httpx2.AsyncClient(base_url=URL, trust_env=False, timeout=PATIENCE_S) as http:
        both = await pids()
        show("two processes fill", len(both) == 2)
        show("a document stays with its process", all([await pid_of(3) == await pid_of(3) for _ in range(5)]))

        statuses, longest = await load(http)
        show(f"under load every request is filled: {dict(statuses)}", statuses == {200: every})
        figures["longest_s"] = round(longest, 2)

        statuses, longest = await load(http, lambda: os.kill(min(both), signal.SIGKILL))
        show(f"with one process killed every request is filled: {dict(statuses)}", statuses == {200: every})
        figures["longest_with_a_kill_s"] = round(longest, 2)
        figures["second_replica_again_after_s"] = round(await until_there_are(2), 1)
        show("another process has taken its place", min(both) not in await pids())

        restart = threading.Thread(target=lambda: serve.run(build(Cluster(replicas=2))))
        before = await pids()
        statuses, longest = await load(http, restart.start)
        show(f"during a rolling restart every request is filled: {dict(statuses)}", statuses == {200: every})
        figures["longest_with_a_restart_s"] = round(longest, 2)
        await asyncio.to_thread(restart.join)
        await until_there_are(2)
        show("the restart has replaced the processes", not before & await pids())

    serve.run(build(Cluster(replicas=1, ongoing=1, queued=1)))
    async with httpx2.AsyncClient(base_url=URL, trust_env=False, timeout=PATIENCE_S) as http:
        answers = await asyncio.gather(*(http.post("/infill", json=body(number)) for number in range(8)))
        busy = [answer for answer in answers if answer.status_code == 503]
        is_honest = bool(busy) and all(answer.headers.get("retry-after") == "1" for answer in busy)
        show(f"who finds the queue full is told when to come again: {len(busy)} of 8", is_honest)
        show("the others are filled", sum(answer.status_code == 200 for answer in answers) == 8 - len(busy))
        show("health", (await http.get("/health")).json() == {"status": "ok"})
    return figures


def show(what: str, is_so: bool) -> None:
    print(("ok    " if is_so else "FAILED ") + what, flush=True)
    if not is_so:
        raise SystemExit(1)


def main() -> int:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        serve.run(build(Cluster(replicas=2)))
        figures = asyncio.run(prove())
    finally:
        serve.shutdown()
        ray.shutdown()
    print(json.dumps({"ray": ray.__version__, **figures}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
