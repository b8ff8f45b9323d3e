"""One picture of a block that develops: the lines around the hole dim, locked tokens distinct from noise, a counter.

Pure: plain values in, a rich text out.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from midfill_engine.api import Draft, DraftToken, FillResult
from midfill_server.commands.hole import Hole

SURROUNDING = "dim"
LOCKED = "bold green"
NOISE = "italic magenta"
COUNTER = "cyan"

NUM_LINES_AROUND = 6

# What a terminal would act on instead of showing it: every control character but line feed and tab.
HARMLESS = {code: "·" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


def draft_frame(hole: Hole, draft: Draft) -> Text:
    num_locked = sum(token.is_locked for token in draft.tokens)
    counter = f"step {draft.step} · {num_locked} of {len(draft.tokens)} tokens locked"
    return _frame(hole, draft.tokens, counter)


def result_frame(hole: Hole, result: FillResult) -> Text:
    tokens = [DraftToken(text=result.text, is_locked=True)]
    counter = f"{result.finish} · {result.num_steps} steps · {result.num_tokens} tokens · {result.timings.total:.2f} s"
    return _frame(hole, tokens, counter)


def _frame(hole: Hole, tokens: Sequence[DraftToken], counter: str) -> Text:
    picture = Text(no_wrap=False)
    picture.append(_last_lines(shown(hole.prefix)), SURROUNDING)
    for token in tokens:
        picture.append(shown(token.text), LOCKED if token.is_locked else NOISE)
    picture.append(_first_lines(shown(hole.suffix)), SURROUNDING)
    if not picture.plain.endswith("\n"):
        picture.append("\n")
    return picture.append(counter, COUNTER)


def shown(text: str) -> str:
    """A text as a terminal may have it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(HARMLESS)


def _last_lines(text: str) -> str:
    return "\n".join(text.split("\n")[-NUM_LINES_AROUND:])


def _first_lines(text: str) -> str:
    return "\n".join(text.split("\n")[:NUM_LINES_AROUND])
