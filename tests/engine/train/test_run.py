"""A run as a whole: resumed it repeats an unbroken one, and what it leaves on disk loads anywhere."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import DiffusionGemmaForBlockDiffusion

from midfill_engine.train.canvases import BatchSampler, CanvasSettings
from midfill_engine.train.cli import add_commands
from midfill_engine.train.feed import Inline, WorkersAhead
from midfill_engine.train.report import read_log, summary, table
from midfill_engine.train.run import Run, RunSettings, run
from midfill_engine.train.state import load_state, read_progress, save_state

CANVASES = CanvasSettings(window=96, positions=128, block=64, slot_counts=(8, 16, 24))


def settings(folder: Path, made: tuple[Path, Path], phase: str = "joint", steps: int = 3) -> RunSettings:
    shards, start = made
    return RunSettings(
        folder=folder, shards=shards, start=start, phase=phase, steps=steps, windows=4, micro=2, decay=0.0,
        held_out_batches=1, threads=1, is_compiled=False, canvases=CANVASES,
    )  # fmt: skip


@pytest.fixture(scope="module")
def made(tiny, tmp_path_factory) -> tuple[Path, Path]:
    return tiny.write(tmp_path_factory.mktemp("made"))


def test_resumed_after_a_kill_losses_are_those_of_an_unbroken_run(made, tmp_path: Path) -> None:
    unbroken = Run(settings(tmp_path / "unbroken", made))
    wanted = [unbroken.step()[0] for _ in range(5)]
    killed = Run(settings(tmp_path / "killed", made))
    for _ in range(2):
        killed.step()
    save_state(tmp_path / "killed", killed.model, killed.optimiser, killed.progress)
    killed.step()  # lost with the process
    resumed = Run(settings(tmp_path / "killed", made))
    assert resumed.progress.step == 2
    assert [resumed.step()[0] for _ in range(3)] == wanted[2:]


def test_causal_training_then_joint_leaves_state_weights_and_log(made, tmp_path: Path) -> None:
    run(settings(tmp_path, made, "causal", steps=20))
    progress = run(settings(tmp_path, made, "joint", steps=20))
    assert (progress.step, progress.phase_step) == (40, 20)
    lines = read_log(tmp_path)
    assert summary(lines)["step"] == 40
    assert "diffusion" in summary(lines)["dev"]
    assert len(table(lines, rows=1).splitlines()) == 2
    model = DiffusionGemmaForBlockDiffusion.from_pretrained(tmp_path / "weights")
    assert model.lm_head.weight.dtype is torch.bfloat16
    assert (tmp_path / "weights" / "tokenizer.json").exists()


def test_a_stop_file_ends_a_run_at_once(made, tmp_path: Path) -> None:
    (tmp_path / "STOP").touch()
    assert run(settings(tmp_path, made)).step == 0


def test_a_log_line_cut_short_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"step": 1}\n{"ste')
    assert read_log(tmp_path) == [{"step": 1}]


def call(*words: object) -> int:
    parser = argparse.ArgumentParser()
    add_commands(parser.add_subparsers())
    arguments = parser.parse_args([str(word) for word in words])
    return int(arguments.command(arguments))


def test_from_a_corpus_file_to_weights_and_a_report(tiny, made, tmp_path: Path, capsys) -> None:
    """The whole way as on a machine that was only given one compressed file and a model folder."""
    lines = [{"sources": []}, *([split, f"p/{i}.py", text] for i, (split, text) in enumerate(
        [("train", tiny.texts[0]), ("train", tiny.texts[1]), ("dev", tiny.texts[2]), ("heldout", tiny.texts[3])]
    ))]  # fmt: skip
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    data, folder, start = tmp_path / "data", tmp_path / "run", made[1]
    assert (
        call("train", "data", data, "--corpus", tmp_path / "corpus.jsonl", "--tokenizer", start / "tokenizer.json") == 0
    )
    words = ("train", "run", folder, "--shards", data, "--start", start, "--fresh", "--no-compile", "--threads", 1)
    assert call(*words, "--phase", "causal", "--steps", 1, "--windows", 2, "--micro", 2) == 0
    assert call(*words, "--phase", "joint", "--steps", 1, "--windows", 1, "--micro", 1) == 0
    assert call("train", "export", folder, tmp_path / "model", "--start", start) == 0
    assert call("train", "report", folder) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["dev"]["causal"] > 0
    DiffusionGemmaForBlockDiffusion.from_pretrained(tmp_path / "model")


def test_whole_does_everything_and_goes_on(tiny, made, tmp_path: Path) -> None:
    """Called again after its time is up, it trains on from its own state."""
    lines = [
        {"sources": []},
        *([split, f"p/{i}.py", tiny.texts[i]] for i, split in enumerate(("train", "dev", "heldout"))),
    ]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("\n".join(map(json.dumps, lines)) + "\n")
    words = ("train", "whole", tmp_path / "run", "--corpus", corpus, "--shards", tmp_path / "s", "--start", made[1],
             "--no-compile", "--threads", 1, "--windows", 1, "--micro", 1, "--seconds", 2)  # fmt: skip
    assert call(*words) == 0
    first = read_progress(tmp_path / "run")
    assert first is not None
    assert first.phase == "joint"
    assert (tmp_path / "run" / "report.txt").read_text().count("\n") >= 3
    DiffusionGemmaForBlockDiffusion.from_pretrained(tmp_path / "run" / "weights")
    assert call(*words) == 0
    again = read_progress(tmp_path / "run")
    assert again is not None
    assert again.step > first.step


def test_workers_ahead_give_the_same_batches(tiny) -> None:
    inline = Inline(BatchSampler(tiny.shard, tiny.tokenizer, CANVASES, seed=5), 2, with_canvases=True)
    ahead = WorkersAhead(inline, num_workers=2, first_step=3, numbers=2)
    try:
        for step in (3, 4, 5):
            for number in range(2):
                ours, theirs = ahead.draw(step, number), inline.draw(step, number)
                assert torch.equal(ours.clean, theirs.clean)
                assert torch.equal(ours.encoder, theirs.encoder)
    finally:
        ahead.close()


def test_the_commands_import_no_torch() -> None:
    code = "import sys, midfill_engine.train.cli; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_state_of_nothing_is_none(made, tmp_path: Path) -> None:
    work = Run(settings(tmp_path, made))
    assert load_state(tmp_path, work.model, work.optimiser) is None
