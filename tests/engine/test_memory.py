"""What keeps an engine's memory flat."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from midfill_engine.memory import CACHES, NUM_KEPT_PRODUCTS, bound_kept_products, give_back


@pytest.mark.parametrize("name", CACHES)
def test_what_the_user_says_counts(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "7")
    bound_kept_products()
    assert os.environ[name] == "7"
    monkeypatch.delenv(name)
    bound_kept_products()
    assert os.environ[name] == str(NUM_KEPT_PRODUCTS)


def test_giving_back_harms_nothing() -> None:
    kept = [bytes([i]) * 100_000 for i in range(200)]
    del kept[::2]
    give_back()
    assert all(len(set(each)) == 1 for each in kept)


def test_freed_memory_goes_back_to_the_system() -> None:
    """Many small pieces with one held behind them stay with the process until they are given back (by glibc)."""
    code = """
import psutil
from midfill_engine.memory import give_back
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
pieces = [libc.malloc(60_000) for _ in range(2000)]
for piece in pieces:
    ctypes.memset(piece, 1, 60_000)
libc.malloc(60_000)
for piece in pieces:
    libc.free(piece)
before = psutil.Process().memory_info().rss
give_back()
print(before - psutil.Process().memory_info().rss)
"""
    given = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert given > 50_000_000 or sys.platform != "linux"
