"""What the machine at hand is good at: the compute type, whether a compiler is there, how fast matrices multiply.

Found at run time by measuring; nothing here is configuration.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass

import torch


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A device and how to use it."""

    device: torch.device
    dtype: torch.dtype  # of activations and of weight copies; masters stay fp32
    gflops: float  # measured rate of a typical matrix product in `dtype`
    gflops_fp32: float
    can_compile: bool


def measure_gflops(device: torch.device, dtype: torch.dtype, repeats: int = 20) -> float:
    """Rate of a 2048 x 288 x 1152 product in 10^9 operations a second."""
    rows, inner, columns = 2048, 288, 1152
    left = torch.randn(rows, inner, device=device, dtype=dtype)
    right = torch.randn(inner, columns, device=device, dtype=dtype)
    for _ in range(3):
        left @ right
    _wait(device)
    began = time.perf_counter()
    for _ in range(repeats):
        left @ right
    _wait(device)
    return 2e-9 * rows * inner * columns * repeats / (time.perf_counter() - began)


def probe(name: str) -> Machine:
    """The machine behind a device name. bf16 is used on accelerators, and on CPUs that multiply it clearly faster."""
    device = torch.device(name)
    fp32, bf16 = (measure_gflops(device, dtype) for dtype in (torch.float32, torch.bfloat16))
    dtype = torch.bfloat16 if device.type != "cpu" or bf16 > 1.3 * fp32 else torch.float32
    return Machine(
        device=device,
        dtype=dtype,
        gflops=bf16 if dtype is torch.bfloat16 else fp32,
        gflops_fp32=fp32,
        can_compile=device.type == "cuda" or shutil.which("g++") is not None,
    )


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
