"""What the tree of the whole text says of middles: repairs first, then the syntax gate.

It stands behind the chain and not in it, because it needs the language, costs a parse, and sets middles against one
another: what would break the text around it is not shown, or shown last. What is typed into a suggestion later is not
judged again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from midfill_engine.syntax.gate import Gate
from midfill_server.postprocess import Middle, Site
from midfill_server.postprocess.data import breaks_data, with_right_comma
from midfill_server.postprocess.tags import with_right_tags
from midfill_server.snapshot import Snapshot


def vetted(middles: Iterable[Middle], snapshot: Snapshot, is_invoked: bool) -> tuple[Middle, ...]:
    """Without those that make the text worse; who asked by hand gets them too, last."""
    gate = Gate(snapshot.prefix, snapshot.suffix, snapshot.language)
    repaired = dict.fromkeys(_repaired(middle, snapshot, gate) for middle in middles)
    is_bad = {middle: _is_bad(middle, gate, snapshot.language) for middle in repaired if middle.text.strip()}
    good = [middle for middle, bad in is_bad.items() if not bad]
    return (*good, *(middle for middle, bad in is_bad.items() if bad and is_invoked))


def _repaired(middle: Middle, snapshot: Snapshot, gate: Gate) -> Middle:
    site, language = Site(snapshot.prefix, snapshot.suffix), snapshot.language
    text = with_right_tags(middle.text, site, language)
    return replace(middle, text=with_right_comma(text, middle.num_absorbed, gate, language))


def _is_bad(middle: Middle, gate: Gate, language: str) -> bool:
    is_worse = gate.is_worse(middle.text, middle.num_absorbed)
    return is_worse or breaks_data(middle.text, middle.num_absorbed, gate, language)
