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
from midfill_server.postprocess.attributes import with_closed_tags, without_doubled_attributes
from midfill_server.postprocess.data import breaks_data, with_right_comma, with_right_indent
from midfill_server.postprocess.tags import HTML, LANGUAGES, closing_tags, lacks_closing, with_right_tags
from midfill_server.snapshot import Snapshot


class Vetting:
    """Repairs and judges middles at one place."""

    def __init__(self, site: Site, language: str) -> None:
        self._site = site
        self._language = language
        self._gate = Gate(site.prefix, site.suffix, language)

    def repaired(self, middle: Middle) -> Middle | None:
        """The middle as it fits what is around it; None if nothing is left of it."""
        text, num = self._with_right_tags(middle), middle.num_absorbed
        text = with_right_comma(text, num, self._gate, self._language)
        text = with_right_indent(text, self._site, num, self._gate, self._language)
        return replace(middle, text=text) if text.strip() else None

    def _with_right_tags(self, middle: Middle) -> str:
        if self._language not in LANGUAGES:
            return middle.text
        text = without_doubled_attributes(middle.text, self._site)
        text = with_right_tags(text, self._site, self._language)
        closers = closing_tags(text, self._site, self._language)
        text = with_closed_tags(text, closers, middle.num_absorbed, self._gate)
        if self._language in HTML and lacks_closing(text, self._site, self._language):
            return text + closing_tags(text, self._site, self._language)
        return text

    def is_bad(self, middle: Middle) -> bool:
        """Whether it breaks the text."""
        is_worse = self._gate.is_worse(middle.text, middle.num_absorbed)
        return is_worse or breaks_data(middle.text, middle.num_absorbed, self._gate, self._language)

    def is_sound(self, middle: Middle) -> bool:
        """Whether the text parses with it."""
        return self._gate.is_sound(middle.text, middle.num_absorbed)


def vetted(middles: Iterable[Middle], snapshot: Snapshot, is_invoked: bool) -> tuple[Middle, ...]:
    """Without those that make the text worse; who asked by hand gets them too, last."""
    vetting = Vetting(Site(snapshot.prefix, snapshot.suffix), snapshot.language)
    repaired = dict.fromkeys(map(vetting.repaired, middles))
    is_bad = {middle: vetting.is_bad(middle) for middle in repaired if middle is not None}
    good = [middle for middle, bad in is_bad.items() if not bad]
    return (*good, *(middle for middle, bad in is_bad.items() if bad and is_invoked))
