"""Windows of files for the encoder: which file, from where, and how much each token's causal loss should count.

A window is [BOS][FILE, where it begins a file] tokens ..., padded. Tokens of docstrings and comments count little: the
model is asked for code. Batches are a pure function of (seed, step), so a run resumes at any step without saved state.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from midfill_engine.train.shards import Shard

PAD, EOS, BOS, NULL, FILE = range(5)
FIRST_NOISE_ID = 16  # ids below are special; noise and (with NULL) slots use the rest
# One way only to match a backslash: with two, an unclosed quote costs time exponential in the backslashes after it.
PROSE = re.compile(r'("""|\'\'\')(?:[^\\]|\\[\s\S])*?\1|(?m:^[ \t]*#.*$)')
FILE_START_SHARE = 0.15  # of the windows begin at their file's first character
MIN_TOKENS = 64


@dataclass(frozen=True, kw_only=True)
class Window:
    """One stretch of one file. Offsets are characters of `text`; token i stands at encoder position len(lead) + i."""

    text: str
    ids: NDArray[np.int64]  # [n]
    starts: NDArray[np.int64]  # [n] character offsets
    lead: tuple[int, ...]  # special ids before the first token
    prose: NDArray[np.int64]  # [k, 2] character ranges of docstrings and comment lines

    def is_prose(self, offset: int) -> bool:
        """Whether a character lies in a docstring or a comment line."""
        before = int(np.searchsorted(self.prose[:, 0], offset, "right")) - 1
        return before >= 0 and offset < int(self.prose[before, 1])


def prose_ranges(text: str) -> NDArray[np.int64]:
    """Character ranges [k, 2] of triple-quoted strings and comment lines, in order."""
    spans = [match.span() for match in PROSE.finditer(text)]
    return np.asarray(spans, np.int64).reshape(-1, 2)


class WindowSampler:
    """Draws windows of at most `size` positions from a shard, each file in proportion to its tokens."""

    def __init__(self, shard: Shard, size: int) -> None:
        self.shard, self.size = shard, size
        lengths = np.diff(shard.bounds).astype(np.float64)
        lengths[lengths < MIN_TOKENS] = 0
        self.cumulative = np.cumsum(lengths / lengths.sum())

    def draw(self, rng: random.Random) -> Window:
        """One window."""
        shard = self.shard
        file = min(int(np.searchsorted(self.cumulative, rng.random(), "right")), len(shard) - 1)
        low, high = int(shard.bounds[file]), int(shard.bounds[file + 1])
        spare = high - low - (self.size - 1)
        first = 0 if spare <= 0 or rng.random() < FILE_START_SHARE else rng.randrange(spare + 1)
        lead = (BOS, FILE) if first == 0 else (BOS,)
        taken = slice(low + first, min(low + first + self.size - len(lead), high))
        text = shard.file_text(file)
        return Window(
            text=text,
            ids=shard.ids[taken].astype(np.int64),
            starts=shard.starts[taken].astype(np.int64),
            lead=lead,
            prose=prose_ranges(text),
        )


def encoder_row(window: Window, size: int) -> NDArray[np.int64]:
    """The encoder's ids [size]."""
    row = np.full(size, PAD, np.int64)
    lead = len(window.lead)
    row[:lead] = window.lead
    row[lead : lead + len(window.ids)] = window.ids
    return row


def causal_row(window: Window, size: int, prose_share: float, rng: random.Random) -> NDArray[np.bool_]:
    """Which positions' next token is trained [size - 1]: all code, and `prose_share` of the docstrings and comments."""
    row = np.zeros(size - 1, np.bool_)
    lead = len(window.lead)
    before = np.searchsorted(window.prose[:, 0], window.starts, "right") - 1
    ends = np.append(window.prose[:, 1], 0)
    prose = (before >= 0) & (window.starts < ends[before])
    kept = ~prose | (np.random.default_rng(rng.getrandbits(32)).random(len(prose)) < prose_share)
    row[lead - 1 : lead - 1 + len(kept)] = kept
    return row
