"""What comes out of a fill: bytes on stdout, or the new file. What is said about it goes to stderr."""

from __future__ import annotations

import json
import sys

from midfill_engine.api import Candidate, FillResult, Timings
from midfill_server.commands.boundary import say
from midfill_server.commands.errors import UsageError
from midfill_server.commands.fill_arguments import FillArguments
from midfill_server.commands.hole import Hole
from midfill_server.commands.replace import replace_source
from midfill_server.commands.source import Source


def check_stdout(arguments: FillArguments) -> None:
    """UsageError if the result would have nowhere to go."""
    if sys.stdout is None and (arguments.json or not arguments.apply):
        raise UsageError("stdout is closed, so the result would be lost: open it, or take --apply")


def put(result: FillResult, source: Source, hole: Hole, arguments: FillArguments) -> None:
    """Hand the result over in the form that was asked for."""
    middle = source.with_own_line_ends(result.text)
    if not result.candidates:
        say("nothing worth offering came out for this place; the text is as it was")
    elif arguments.apply:
        replace_source(source, hole.filled(middle))
    if arguments.json:
        _write(as_json(result, source).encode() + b"\n")
    elif arguments.whole:
        # Nothing came out: the text with its selection, not one with a hole where the selection was.
        _write(source.encode(hole.filled(middle if result.candidates else hole.selection)))
    elif not arguments.apply:
        _write(_plain(result, source, is_terminal=sys.stdout.isatty()).encode())


def as_json(result: FillResult, source: Source) -> str:
    """One line, ASCII only, so that whoever splits lines in an unusual way still gets one."""
    return json.dumps(
        {
            "text": source.with_own_line_ends(result.text),
            "candidates": [_candidate(candidate, source) for candidate in result.candidates],
            "finish": result.finish.value,
            "steps": result.num_steps,
            "num_tokens": result.num_tokens,
            "timings_ms": timings_ms(result.timings),
            "preset": result.preset,
        }
    )


def timings_ms(timings: Timings) -> dict[str, float]:
    return {name: round(getattr(timings, name) * 1000, 2) for name in ("load", "encode", "denoise", "total")}


def _candidate(candidate: Candidate, source: Source) -> dict[str, object]:
    return {"text": source.with_own_line_ends(candidate.text), "confidence": round(candidate.confidence, 4)}


def _plain(result: FillResult, source: Source, *, is_terminal: bool) -> str:
    """The middle to the byte; several candidates, or any for a person, end their last line."""
    texts = [source.with_own_line_ends(candidate.text) for candidate in result.candidates]
    if len(texts) < 2:
        return _ended(texts[0], is_terminal=is_terminal) if texts else ""
    total = len(texts)
    heads = (
        f"--- {rank} of {total}, confidence {candidate.confidence:.2f}\n"
        for rank, candidate in enumerate(result.candidates, start=1)
    )
    return "".join(head + _ended(text, is_terminal=True) for head, text in zip(heads, texts, strict=True))


def _ended(text: str, *, is_terminal: bool) -> str:
    return text + "\n" if is_terminal and not text.endswith("\n") else text


def _write(raw: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(raw)
    sys.stdout.buffer.flush()
