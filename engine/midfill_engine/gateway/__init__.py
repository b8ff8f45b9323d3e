"""`midfill gateway`: the user's engine for plugins that speak llama.cpp's or OpenAI's HTTP.

    a plugin ── HTTP ──> guard (who may ask) ──> a dialect (its JSON ⇄ ours) ──> Engine ──> the user's engine process
                                                        fim, cut: prompts with marks; stop strings and indentation

Knows nothing of models: whatever fills is an `api.Engine`, so that the same application serves one user's engine
process and, behind a scaler, many of them.
"""

from collections.abc import Sequence


def main(argv: Sequence[str]) -> int:
    """Serve until told to stop; imports what it serves with only now."""
    from midfill_engine.gateway.command import run

    return run(argv)
