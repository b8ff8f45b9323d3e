"""Where a middle is to be put."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

NEAR_LINES = 40
BLANK_LINE = re.compile(r"\n[ \t]*\n")
ONLY_CLOSERS = re.compile(r"[\s)\]}>\"'`;:,]*")


@dataclass(frozen=True)
class Site:
    """The text before and after the cursor, line ends all \\n."""

    prefix: str
    suffix: str

    @cached_property
    def before(self) -> str:
        """The cursor's line, left of it."""
        return self.prefix[self.prefix.rfind("\n") + 1 :]

    @cached_property
    def after(self) -> str:
        """The cursor's line, right of it."""
        return self.suffix.partition("\n")[0]

    @cached_property
    def following(self) -> list[str]:
        """The lines below the cursor's."""
        return self.suffix.split("\n")[1:]

    @cached_property
    def only_closers_follow(self) -> bool:
        """Whether right of the cursor is nothing but what an editor closes by itself."""
        return ONLY_CLOSERS.fullmatch(self.after) is not None

    @cached_property
    def near_prefix(self) -> str:
        """What is before the cursor back to a blank line: the statement and a little more."""
        lines = self.prefix.rsplit("\n", NEAR_LINES)[-NEAR_LINES:]
        return BLANK_LINE.split("\n".join(lines))[-1]

    @cached_property
    def near_suffix(self) -> str:
        """What is after the cursor up to a blank line."""
        lines = self.suffix.split("\n", NEAR_LINES)[:NEAR_LINES]
        return BLANK_LINE.split("\n".join(lines))[0]
