"""`midfill eval`: how good fills are, on cases whose true middle is known.

    cases ─> sample ─> asking ─> an Engine (or causal) ─> grading ─> summary ─> report, plot
                                    metrics, parsing, sandbox ──┘        └── bootstrap

Does not measure speed fairly: latencies are those of whole fills whose prompt is mostly new to the engine, while an
editor asks again after every key. `midfill bench` does that. docs/EVALUATION.md says what each figure means.
"""

from collections.abc import Sequence


def main(argv: Sequence[str]) -> int:
    """Run the evaluation; imports what it needs only now."""
    from midfill_engine.evaluate.command import run

    return run(argv)
