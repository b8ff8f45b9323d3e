"""What a model could run on, as the model library sees it: asked in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from midfill_server.commands.doctor.finding import Case, Finding, Level

PATIENCE_S = 120
PROGRAM = """
import json, torch
device = torch.accelerator.current_accelerator(check_available=True)
names = []
if device is not None and device.type == "cuda":
    names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
print(json.dumps({"type": device and device.type, "names": names, "threads": torch.get_num_threads(),
                  "built_for": torch.version.cuda or torch.version.hip or "cpu"}))
"""


def check(case: Case) -> Iterator[Finding]:
    """The accelerator, or that there is none."""
    if case.is_quick:
        return
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        told = f"torch has not been loaded after {PATIENCE_S} s"
        yield Finding(topic="devices", told=told, level=Level.BROKEN, remedy=f'{sys.executable} -c "import torch"')
        return
    yield _broken(done.stderr) if done.returncode else _seen(json.loads(done.stdout))


def _broken(stderr: str) -> Finding:
    last = stderr.strip().rpartition("\n")[2]
    remedy = f'{sys.executable} -c "import torch"'
    return Finding(topic="devices", told=f"torch cannot be used: {last}", level=Level.BROKEN, remedy=remedy)


def _seen(facts: dict[str, Any]) -> Finding:
    if facts["type"]:
        return Finding(topic="devices", told=", ".join(facts["names"]) or facts["type"])
    told = f"no accelerator (torch is built for {facts['built_for']}): the CPU, with {facts['threads']} threads"
    return Finding(topic="devices", told=f"{told}, which is enough for the shipped model")
