"""Whether a middle would break what the text around it keeps whole.

The text with the middle is compared with the text without it. The hole itself is often a fault, and what is being typed
is not finished: so before a middle is called worse it is tried with what closes the open brackets, its own and those of
the statement around it, and with a body for a block that it opens. Where the text without it is sound, any fault is
worse; where it is not, recovery from faults is arbitrary, and only more faults in more text are. Every doubt is in
favour of the middle: the true middle of a file is not called worse. `docs/LOG.md` has the figures. Where a language has
a stricter parser than its grammar, that one is asked too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from midfill_engine.syntax.source import Source, faults, parse, window_around
from midfill_engine.syntax.strict import Strict

BEFORE, AFTER = 12_000, 6_000
"""How much of the text is parsed: what stands further away is as it was."""
SOUND = 0.2
"""Where more of the text than this share does not parse, as after a cut in a docstring, nothing is judged."""
NEAR = 2_000
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_STRING = re.compile(r"""\"(?:[^"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|//[^\n]*""")
_QUOTES = ('"""', "'''")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Damage:
    """How much of a text does not parse: the faults, and the bytes in them."""

    num_faults: int
    size: int


class Verdict(IntEnum):
    """What a middle does to the text around it: all of it parses; nobody can tell that it does damage; it does."""

    SOUND = 0
    NO_WORSE = 1
    WORSE = 2


class Gate:
    """Of one place in a text: tells which middles would do damage. Parses the text once, and then what changes."""

    def __init__(self, prefix: str, suffix: str, language: str) -> None:
        text, self._offset = prefix + suffix, len(prefix)
        self._source = parse(text, language, window_around(text, len(prefix), BEFORE, AFTER))
        self._before = Damage(0, 0) if self._source is None else damage(self._source)
        self._line = prefix[prefix.rfind("\n") + 1 :]
        self._near = _STRING.sub("", _BLANK_LINE.split(prefix[-NEAR:])[-1])
        self._strict = Strict(prefix, suffix, language)

    def is_sound(self, middle: str, num_replaced: int = 0) -> bool:
        """Whether the whole text around parses with the middle; false where nobody can tell."""
        if self._strict.is_known:
            return self._strict.is_sound(middle, num_replaced)
        source = self._source
        return source is not None and not source.spliced(self._offset, middle, num_replaced).root.has_error

    def verdict(self, middle: str, num_replaced: int = 0) -> Verdict:
        """What the middle does to the text."""
        if self._strict.is_sound(middle, num_replaced):
            return Verdict.SOUND
        if self.is_worse(middle, num_replaced):
            return Verdict.WORSE
        is_sound = not self._strict.is_known and self.is_sound(middle, num_replaced)
        return Verdict.SOUND if is_sound else Verdict.NO_WORSE

    def is_worse(self, middle: str, num_replaced: int = 0) -> bool:
        """Whether there is more damage with the middle than without; never for a language that is not known."""
        return self._is_worse_tree(middle, num_replaced) or self._strict.is_worse(
            middle, _endings(self._line, self._near, middle), num_replaced
        )

    def _is_worse_tree(self, middle: str, num_replaced: int) -> bool:
        source = self._source
        if source is None or self._before.size > SOUND * len(source.data):
            return False
        closers = dict.fromkeys((_closed(middle), _closed(self._near + middle)))
        operands = ("x" + each for each in closers if each)  # behind an operator
        endings = dict.fromkeys(("", *closers, *operands, *_bodies(self._line, middle, source)))
        return all(self._has_grown(source, middle + ending, num_replaced) for ending in endings)

    def _has_grown(self, source: Source, middle: str, num_replaced: int) -> bool:
        before, after = self._before, damage(source.spliced(self._offset, middle, num_replaced))
        if not before.num_faults:
            return after.num_faults > 0
        grown = after.size - before.size - len(middle.encode(errors="replace"))
        return after.num_faults > before.num_faults and grown > 0


def damage(source: Source) -> Damage:
    found = list(faults(source.root))
    return Damage(len(found), sum(node.end_byte - node.start_byte for node in found))


def _closed(middle: str) -> str:
    """What closes the brackets that a middle leaves open."""
    stack: list[str] = []
    for character in middle:
        if character in _CLOSERS:
            stack.append(_CLOSERS[character])
        elif stack and character == stack[-1]:
            stack.pop()
    return "".join(reversed(stack))


def _bodies(line: str, middle: str, source: Source) -> tuple[str, ...]:
    """In Python, what has to come after a line that opens a block or decorates something, or within a docstring."""
    if source.root.type != "module":
        return ()
    last = (line + middle).rpartition("\n")[2]
    indent = last[: len(last) - len(last.lstrip())]
    if last.strip().startswith("@"):
        return (f"\n{indent}def f(): pass",)
    return (f"\n{indent}    pass",) if last.rstrip().endswith(":") else _QUOTES


def _endings(line: str, near: str, middle: str) -> Iterator[str]:
    """In Python, what somebody may be about to write behind the middle: the rest of an expression, what closes it, a
    body and what has to come after it."""
    last = (line + middle).rpartition("\n")[2]
    indent = last[: len(last) - len(last.lstrip())]
    body = f"\n{indent}    pass"
    bodies = (
        "",
        body,
        f":{body}",
        f"{body}\n{indent}finally: pass",
        f"\n{indent}    case _: pass",
        f"\n{indent}def f(): pass",
    )
    for closers in dict.fromkeys((_closed(near + middle), _closed(middle), "")):
        for word in ("", "x") if closers else ("",):
            yield from (word + closers + end for end in bodies)
    yield from (quotes + _closed(near) for quotes in _QUOTES)
