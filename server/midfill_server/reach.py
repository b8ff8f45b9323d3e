"""How far a suggestion may reach at a place, and where nothing is suggested unasked: decided by syntax.

    text right of the cursor      the line
    comment, string               what the user's settings say; asked for by hand always something
    a line that opens a block     its body
    blank line                    the block, up to what follows
    else                          the line, so an expression to its end; a bracket left open, what is in it

Where there is no grammar, the engine's rules about text decide.
"""

from __future__ import annotations

from midfill_engine.api import Mode
from midfill_engine.syntax.place import Place, Where, place_at
from midfill_server.postprocess import Site
from midfill_server.setting_rules import Prose
from midfill_server.settings import Settings
from midfill_server.snapshot import Snapshot


def mode_at(snapshot: Snapshot, settings: Settings) -> Mode:
    """What the engine is asked for."""
    site = Site(snapshot.prefix, snapshot.suffix)
    if not site.only_closers_follow:
        return Mode.LINE
    place = _place(snapshot)
    if place is not None and place.where is not Where.CODE and _prose(place, settings) is not Prose.ON:
        return Mode.LINE
    return settings.mode if settings.mode is not Mode.AUTO or place is None else _by_syntax(place, site)


def is_quiet(snapshot: Snapshot, settings: Settings) -> bool:
    """Whether nothing is suggested here unless somebody asks for it."""
    if not snapshot.line.strip():
        return not settings.blank_lines
    if Prose.OFF not in (settings.comments, settings.strings):
        return False
    place = _place(snapshot)
    return place is not None and place.where is not Where.CODE and _prose(place, settings) is Prose.OFF


def _by_syntax(place: Place, site: Site) -> Mode:
    """A colon that opens no block, as in a dict, asks for the line; the engine would take it for one that does."""
    if place.opens_block:
        return Mode.BLOCK
    return Mode.LINE if site.before.rstrip().endswith((":", "=>")) or site.after.strip() else Mode.AUTO


def _prose(place: Place, settings: Settings) -> Prose:
    return settings.comments if place.where is Where.COMMENT else settings.strings


def _place(snapshot: Snapshot) -> Place | None:
    return place_at(snapshot.prefix, snapshot.suffix, snapshot.language)
