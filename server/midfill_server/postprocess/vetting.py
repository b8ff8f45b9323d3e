"""What the tree of the whole text says of middles: repairs first, then the syntax gate.

It stands behind the chain and not in it, because it needs the language, costs a parse, and sets middles against one
another: what would break the text around it is not shown, or shown last. What is typed into a suggestion later is not
judged again, nor what the engine has judged in the same place: the gate takes a millisecond or two for each middle.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from midfill_engine.api import Candidate
from midfill_engine.syntax.gate import Gate
from midfill_server.postprocess import Middle, Site
from midfill_server.postprocess.attributes import with_closed_tags, without_doubled_attributes
from midfill_server.postprocess.data import LANGUAGES as DATA
from midfill_server.postprocess.data import breaks_data, with_right_comma, with_right_indent
from midfill_server.postprocess.tags import HTML, LANGUAGES, closing_tags, lacks_closing, with_right_tags
from midfill_server.snapshot import Snapshot


class Vetting:
    """Repairs and judges middles at one place. `vetted`: texts that the gate has nothing against."""

    def __init__(self, site: Site, language: str, vetted: frozenset[str] = frozenset()) -> None:
        self._site = site
        self._language = language
        self._vetted = vetted
        self._known: dict[Middle, bool] = {}

    @cached_property
    def _gate(self) -> Gate:
        return Gate(self._site.prefix, self._site.suffix, self._language)

    def repaired(self, middle: Middle) -> Middle | None:
        """The middle as it fits what is around it; None if nothing is left of it."""
        text, num = self._with_right_tags(middle), middle.num_absorbed
        if self._language in DATA:
            text = with_right_comma(text, num, self._gate)
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
        if middle not in self._known:
            self._known[middle] = self._is_worse(middle) or self._breaks_data(middle)
        return self._known[middle]

    def _is_worse(self, middle: Middle) -> bool:
        is_known_good = middle.text in self._vetted and not middle.num_absorbed
        return not is_known_good and self._gate.is_worse(middle.text, middle.num_absorbed)

    def _breaks_data(self, middle: Middle) -> bool:
        is_data = self._language in DATA
        return is_data and breaks_data(middle.text, middle.num_absorbed, self._gate)

    def is_sound(self, middle: Middle) -> bool:
        """Whether the text parses with it."""
        return self._gate.is_sound(middle.text, middle.num_absorbed)

    def is_good(self, middle: Middle) -> bool:
        """Whether it may be shown unasked."""
        return not self.is_bad(middle)

    def all_repaired(self, middles: Iterable[Middle]) -> tuple[Middle, ...]:
        """What is left of them as they fit, each but once."""
        repaired = map(self.repaired, middles)
        return tuple(dict.fromkeys(middle for middle in repaired if middle is not None))

    def first_good(self, middles: Iterable[Middle]) -> tuple[Middle, ...]:
        """The first that breaks nothing, if there is one. The others are not judged."""
        return next(((middle,) for middle in middles if self.is_good(middle)), ())

    def good_first(self, middles: Iterable[Middle]) -> tuple[Middle, ...]:
        """Those that break the text come last: for who has asked by hand."""
        return tuple(sorted(middles, key=self.is_bad))


def vetting_of(snapshot: Snapshot, candidates: Iterable[Candidate] = ()) -> Vetting:
    """At a cursor; what the engine has judged there is known."""
    vetted = frozenset(each.text for each in candidates if each.is_vetted)
    return Vetting(Site(snapshot.prefix, snapshot.suffix), snapshot.language, vetted)
