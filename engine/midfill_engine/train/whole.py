"""`train whole`: from one corpus file to exported weights and a report, for a machine that is only there for minutes.

    corpus file -> shards -> causal phase -> joint phase -> weights/, report.txt

Whatever is finished is on disk: a second call goes on where the first was stopped.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from midfill_engine.train.build import build
from midfill_engine.train.report import read_log, table
from midfill_engine.train.run import RunSettings, run
from midfill_engine.train.state import read_progress

CAUSAL_SHARE = 0.35  # of the time: causal steps cost a third of joint ones, and the decoder shares the weights
MIN_PHASE_S = 1.0


def train_whole(corpus: Path, settings: RunSettings, share: float = 1.0) -> None:
    """Everything, within `settings.seconds` from now on. `settings.shards` is written where it is not there yet."""
    began = time.monotonic()
    if not (settings.shards / "train.npz").exists():  # the last that is written
        build(settings.shards, corpus_file=corpus, tokenizer_file=settings.start / "tokenizer.json", share=share)
    progress = read_progress(settings.folder)
    if progress is None or progress.phase == "causal":
        done = progress.phase_seconds if progress is not None else 0.0
        left = _left(settings, began)
        run(replace(settings, phase="causal", seconds=done + CAUSAL_SHARE * left, decay=0.0))
    done = progress.phase_seconds if progress is not None and progress.phase == "joint" else 0.0
    run(replace(settings, phase="joint", seconds=done + _left(settings, began)))
    (settings.folder / "report.txt").write_text(table(read_log(settings.folder), rows=40) + "\n", encoding="utf-8")


def _left(settings: RunSettings, began: float) -> float:
    return max(settings.seconds - (time.monotonic() - began), MIN_PHASE_S)
