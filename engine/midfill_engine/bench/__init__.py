"""`midfill bench`: how long things take, as ratios of what is measured in the same run.

    holes ──> ours, generate, autoregressive (models) ──┐
    an editor's keystrokes ──> server ──> engine ───────┴──> report: a table, and one JSON line

Machines are shared and noisy, so every figure that is compared is measured turn by turn with what it is compared to.
Does not measure: a GPU's throughput under several users, or how good the fills are beyond the exact match beside each.
"""

from collections.abc import Sequence


def main(argv: Sequence[str]) -> int:
    """Run the bench; imports what it measures only now."""
    from midfill_engine.bench.command import run

    return run(argv)
