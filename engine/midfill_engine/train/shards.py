"""Token arrays of a corpus: what training reads. One .npz of numbers and one .txt of text per split.

ids     uint16 [T]      every file's tokens, one file after another, no separators
starts  uint32 [T]      the character of its file at which each token starts
bounds  int64 [F + 1]   file i owns tokens bounds[i]:bounds[i + 1]
chars   int64 [F + 1]   file i owns characters chars[i]:chars[i + 1] of SPLIT.txt
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

BATCH = 256  # files tokenised at once


@dataclass(frozen=True, kw_only=True)
class Shard:
    """One split, tokenised; see the module's docstring for the arrays."""

    ids: NDArray[np.uint16]
    starts: NDArray[np.uint32]
    bounds: NDArray[np.int64]
    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def file_text(self, index: int) -> str:
        """The text of file `index`."""
        return self.texts[index]


def tokenize(texts: Sequence[str], tokenizer: Tokenizer) -> Shard:
    """Tokenise every text by itself, on all cores."""
    ids: list[NDArray[np.uint16]] = [np.zeros(0, np.uint16)]
    starts: list[NDArray[np.uint32]] = [np.zeros(0, np.uint32)]
    for first in range(0, len(texts), BATCH):
        for encoding in tokenizer.encode_batch(list(texts[first : first + BATCH]), add_special_tokens=False):
            ids.append(np.asarray(encoding.ids, np.uint16))
            starts.append(np.asarray([offset[0] for offset in encoding.offsets], np.uint32))
    lengths = [len(array) for array in ids[1:]]
    return Shard(
        ids=np.concatenate(ids),
        starts=np.concatenate(starts),
        bounds=np.cumsum([0, *lengths], dtype=np.int64),
        texts=tuple(texts),
    )


def save_shard(shard: Shard, folder: Path, split: str) -> None:
    """Write SPLIT.npz and SPLIT.txt; complete files only ever appear under these names."""
    arrays: dict[str, Any] = {name: getattr(shard, name) for name in ("ids", "starts", "bounds")}
    arrays["chars"] = np.cumsum([0, *map(len, shard.texts)], dtype=np.int64)
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{split}.part.npz"
    np.savez(part, **arrays)
    text_part = folder / f"{split}.part.txt"
    text_part.write_text("".join(shard.texts), encoding="utf-8", newline="")
    text_part.replace(folder / f"{split}.txt")
    part.replace(folder / f"{split}.npz")


def load_shard(folder: Path, split: str) -> Shard:
    """The shard written by `save_shard`."""
    with np.load(folder / f"{split}.npz") as arrays:
        ids, starts, bounds, chars = (arrays[name] for name in ("ids", "starts", "bounds", "chars"))
    with (folder / f"{split}.txt").open(encoding="utf-8", newline="") as stream:
        texts = tuple(stream.read(int(size)) for size in np.diff(chars))
    return Shard(ids=ids, starts=starts, bounds=bounds, texts=texts)
