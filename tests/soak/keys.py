"""A person at a keyboard, as a stream of edits: types code that was there, errs, goes back, jumps.

What is typed comes from the files themselves, so that it looks like code to a model. Knows nothing of the protocol: a
`Page` is a text with a cursor, and every key is an `Edit` of it in code points.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

LINE_END = re.compile(r"\r\n?|\n")
NEWLINE = "\n"
ODD = ("é", "😀", "\u2028", "\f", "e\u0301")
"""Characters that put a careless line model or encoding out of step."""


@dataclass(frozen=True)
class Edit:
    """`text` in place of what is between two offsets."""

    start: int
    end: int
    text: str


class Page:
    """A text, where the cursor stands, and the line end that its keys give."""

    def __init__(self, uri: str, text: str) -> None:
        self.uri = uri
        self.text = text
        self.eol = (LINE_END.search(text) or [NEWLINE])[0]
        self.cursor = 0
        self.version = 1

    def apply(self, edit: Edit) -> None:
        self.text = self.text[: edit.start] + edit.text + self.text[edit.end :]
        self.cursor = edit.start + len(edit.text)
        self.version += 1

    def position(self, offset: int) -> dict[str, int]:
        """In UTF-16 units, counted the slow way."""
        start, line = 0, 0
        for match in LINE_END.finditer(self.text, 0, offset):
            is_cut = match.group() == "\r" and self.text.startswith("\r\n", match.start())
            if not is_cut:
                start, line = match.end(), line + 1
        return {"line": line, "character": len(self.text[start:offset].encode("utf-16-le")) // 2}


class Typist:
    """Decides the next key. One generator, so that a seed gives the same keys."""

    def __init__(self, rng: random.Random, keys_per_s: float) -> None:
        self._rng = rng
        self._pause_s = 1 / keys_per_s

    def pause_s(self) -> float:
        """Until the next key: bursts and hesitations around the mean."""
        return self._pause_s * self._rng.lognormvariate(-0.32, 0.8)

    def stretch(self, page: Page) -> Iterator[Edit]:
        """A piece of work at one place: some lines are deleted and typed again."""
        lines = [match.end() for match in LINE_END.finditer(page.text)] or [0]
        first = self._rng.randrange(len(lines))
        start, end = lines[first], lines[min(first + self._rng.randint(1, 3), len(lines) - 1)]
        wanted = page.text[start:end] or "x = 1" + page.eol
        page.cursor = start
        yield Edit(start, end, page.eol)
        page.cursor = start
        yield from self._typed(page, wanted.removesuffix(page.eol))

    def _typed(self, page: Page, text: str) -> Iterator[Edit]:
        for key in re.findall(r"\r\n|[\s\S]", text):
            if self._rng.random() < 0.03:
                yield Edit(page.cursor, page.cursor, self._rng.choice(("q", "(", *ODD)))
                yield self._backspace(page)
            if self._rng.random() < 0.004:
                yield Edit(page.cursor, page.cursor, self._rng.choice(ODD))
            if self._rng.random() < 0.02:
                yield self._word_deleted(page)
            yield Edit(page.cursor, page.cursor, key)

    def _backspace(self, page: Page) -> Edit:
        start = page.cursor - (2 if page.text[: page.cursor].endswith("\r\n") else 1)
        return Edit(max(start, 0), page.cursor, "")

    def _word_deleted(self, page: Page) -> Edit:
        found = re.search(r"\w*[^\S\r\n]*\Z", page.text[max(page.cursor - 40, 0) : page.cursor])
        return Edit(page.cursor - len(found.group() if found else ""), page.cursor, "")
