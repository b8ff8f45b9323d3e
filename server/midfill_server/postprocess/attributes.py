"""Within an opening tag: no attribute comes twice, and quotes and brackets are closed. In HTML, XML and JSX.

Of what is said twice the first counts in HTML, and XML and JSX do not allow it. Quotes, `>` and closing tags are put or
taken away at the end only, and only where the text parses with that and does not without.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from midfill_engine.syntax.gate import Gate
from midfill_server.postprocess.site import Site
from midfill_server.postprocess.tags import TAG_BEGUN

NEAR = 2_000
REST_OF_TAG = re.compile(r"""(?:[^<>"']|"[^"]*"|'[^']*')*""")
ATTRIBUTE = re.compile(r"""(?<=\s)([\w@:#.-]+)(?:\s*=\s*(?:"[^"]*"|'[^']*'|\{[^{}]*\}|[^\s"'<>={}`]+))?(?=[\s/>]|\Z)""")
SURPLUS = ('">', "'>", ">", '"', "'")
LACKING = ('"', "'", ">", '">', "'>")


def without_doubled_attributes(text: str, site: Site) -> str:
    """The middle without attributes that its tag has already."""
    begun = TAG_BEGUN.search(site.prefix[-NEAR:])
    if begun is None:
        return text
    inside = (REST_OF_TAG.match(text) or [""])[0]
    is_open = len(inside) == len(text)
    behind = (REST_OF_TAG.match(site.suffix[:NEAR]) or [""])[0] if is_open else ""
    tag, start = begun[0] + inside, len(begun[0])
    seen = {found[1] for found in ATTRIBUTE.finditer(" " + behind)}
    pieces, done = list[str](), start
    for found in ATTRIBUTE.finditer(tag):
        if found[1] in seen and found.start() >= start:
            kept, done = tag[done : found.start()], found.end()
            pieces.append(kept.rstrip())
            if kept == kept.rstrip():
                done += len(tag[done:]) - len(tag[done:].lstrip())
        seen.add(found[1])
    return "".join([*pieces, tag[done:], text[len(inside) :]])


def with_closed_tags(text: str, closers: str, num_absorbed: int, gate: Gate) -> str:
    """The middle with what its tags lack at the end, or without what is too much there, as it parses. `closers`: of the
    elements that it opens."""
    if gate.is_sound(text, num_absorbed):
        return text
    return next((each for each in _variants(text, closers) if gate.is_sound(each, num_absorbed)), text)


def _variants(text: str, closers: str) -> Iterator[str]:
    if closers:
        yield text + closers
    for ending in LACKING:
        yield text + ending
    for ending in SURPLUS:
        if text.endswith(ending):
            yield text.removesuffix(ending)
    for ending in LACKING if closers else ():
        yield text + ending + closers
