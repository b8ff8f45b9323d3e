"""Space that nobody can see."""

from __future__ import annotations

from midfill_server.postprocess.site import Site


def without_trailing_space(text: str, site: Site) -> str:
    """No line end after the middle: the cursor would land on the next line. Space is kept only before other text."""
    return text.rstrip("\n") if site.after.strip() else text.rstrip()


def nothing_blank(text: str, _site: Site) -> str:
    """Blank ghost text flickers and says nothing."""
    return text if text.strip() else ""
