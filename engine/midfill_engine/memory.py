"""Keeping an engine's memory flat over hours of fills of every length.

oneDNN and torch's layer over it keep what they have made for each shape they have met, a thousand by default and
hundreds of megabytes; and glibc keeps what was freed. All are told to keep less, for no measurable time (docs/LOG.md).
"""

from __future__ import annotations

import ctypes
import os
import sys

NUM_KEPT_PRODUCTS = 64
CACHES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
"""oneDNN's own and ideep's, by the variables that bound them."""


def bound_kept_products() -> None:
    """Have fewer products kept, unless the user has said how many. Before torch is imported."""
    for name in CACHES:
        os.environ.setdefault(name, str(NUM_KEPT_PRODUCTS))


def give_back() -> None:
    """Give freed memory back to the system, where the C library can."""
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's; musl has none
    if trim is not None:
        trim(0)
