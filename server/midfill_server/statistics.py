"""What comes of suggestions: the editor's signals and the completer's counts, added to the user's own file.

Numbers only, on this machine only, and none at all if the user does not want it.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from midfill_server import tally_file
from midfill_server.documents import Change
from midfill_server.keepsakes import KEPT_AFTER_S, Keepsakes, Kept
from midfill_server.positions import Point
from midfill_server.tally import Tally

logger = logging.getLogger(__name__)

SAVE_AFTER_S = 5.0
MOST_OFFERED = 256


@dataclass(frozen=True)
class Offered:
    """A text that an editor was given, and where it would be put in."""

    uri: str
    start: Point
    text: str


class Statistics:
    """Of one client. `lines_of`: an open document's lines. `tally` is what has not been saved yet."""

    def __init__(
        self,
        tally: Tally,
        lines_of: Callable[[str], Sequence[str] | None],
        is_on: Callable[[], bool],
        path: Callable[[], Path] | None = None,
    ) -> None:
        self.tally = tally
        self._lines_of = lines_of
        self._is_on = is_on
        self._path = path
        self._offered: OrderedDict[str, Offered] = OrderedDict()
        self._last_shown: dict[str, str] = {}
        self._tells_what_it_shows = False
        self._keepsakes = Keepsakes()
        self._saving: asyncio.TimerHandle | None = None

    def offer(self, offered: Offered) -> str:
        """An editor is given a suggestion; the id by which it will speak of it."""
        name = uuid.uuid4().hex
        self._offered[name] = offered
        if len(self._offered) > MOST_OFFERED:
            self._offered.popitem(last=False)
        if not self._tells_what_it_shows:
            self._count_shown(offered)
        self._save_soon()
        return name

    def show(self, name: str) -> None:
        """The editor says that it shows a suggestion. One that says so is believed from then on."""
        offered = self._offered.get(name)
        if offered is not None and self._tells_what_it_shows:
            self._count_shown(offered)
        self._tells_what_it_shows = True

    def accept(self, name: str, num_units: int | None = None) -> None:
        """A suggestion was accepted, or its first UTF-16 code units were."""
        offered = self._offered.get(name)
        text = _begin(offered.text, num_units) if offered else ""
        if offered is None or text == offered.text:
            self.tally.num_accepted += 1
            self._offered.pop(name, None)
        else:
            self.tally.num_partly_accepted += 1
        if offered is not None and text:
            self.tally.num_characters_accepted += len(text)
            self._watch(offered, text)
        self._save_soon()

    def on_change(self, uri: str, changes: Iterable[Change]) -> None:
        """A text has changed."""
        self._keepsakes.on_change(uri, changes)

    def on_close(self, uri: str) -> None:
        """A document is about to be closed."""
        self._settle(uri, time.monotonic())
        self._last_shown.pop(uri, None)

    def whole(self) -> Tally:
        """All that was ever counted."""
        whole = tally_file.read(self._path()) if self._path else Tally()
        whole.add(self.tally)
        return whole

    def close(self) -> None:
        """The client leaves."""
        for uri in self._keepsakes.uris:
            self._settle(uri, time.monotonic())
        self._write(self._take())

    def _write(self, counted: Tally) -> None:
        """Add to the file; a failure is a line in the log."""
        if self._path is None or not self._is_on() or counted == Tally():
            return
        try:
            tally_file.add(self._path(), counted)
        except OSError as error:
            logger.info("the statistics are not saved: %s", error)

    def _take(self) -> Tally:
        """What has been counted since the last time."""
        counted = Tally()
        counted.add(self.tally)
        self.tally.clear()
        return counted

    def _count_shown(self, offered: Offered) -> None:
        """Typing into a suggestion shows the rest of it again and again: that is one."""
        if not self._last_shown.get(offered.uri, "").endswith(offered.text):
            self.tally.num_shown += 1
        self._last_shown[offered.uri] = offered.text

    def _watch(self, offered: Offered, text: str) -> None:
        lines = self._lines_of(offered.uri)
        if lines is None:
            return
        self._keepsakes.watch(offered.uri, lines, offered.start, text, time.monotonic())
        loop = asyncio.get_running_loop()
        loop.call_later(KEPT_AFTER_S, lambda: self._settle(offered.uri, time.monotonic() - KEPT_AFTER_S))

    def _settle(self, uri: str, until: float) -> None:
        lines = self._lines_of(uri)
        kept = Kept() if lines is None else self._keepsakes.settle(uri, lines, until)
        self.tally.num_characters_watched += kept.num_watched
        self.tally.num_characters_kept += kept.num_kept
        if kept.num_watched:
            self._save_soon()

    def _save_soon(self) -> None:
        if self._saving is None:
            self._saving = asyncio.get_running_loop().call_later(SAVE_AFTER_S, self._save_now)

    def _save_now(self) -> None:
        """In a thread: somebody may be typing."""
        self._saving = None
        asyncio.get_running_loop().run_in_executor(None, self._write, self._take())


def _begin(text: str, num_units: int | None) -> str:
    """The first UTF-16 code units of a text; all of it if not told how many."""
    if num_units is None:
        return text
    return text.encode("utf-16-le", "surrogatepass")[: 2 * max(num_units, 0)].decode("utf-16-le", "ignore")
