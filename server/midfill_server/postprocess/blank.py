"""Space that nobody can see."""

from __future__ import annotations

from midfill_server.postprocess.brackets import PAIRS
from midfill_server.postprocess.site import Site


def without_trailing_space(text: str, site: Site) -> str:
    """No line end after the middle: the cursor would land on the next line. Space is kept only before other text."""
    if _closes_on_its_own_line(text, site):
        return text
    return text.rstrip("\n") if site.after.strip() else text.rstrip()


def _closes_on_its_own_line(text: str, site: Site) -> bool:
    """Whether the last line end belongs before a bracket right of the cursor whose partner ends a line."""
    opener, closer = site.before.rstrip()[-1:], site.after.lstrip()[:1]
    is_pair = closer in PAIRS and PAIRS[closer] == opener
    return is_pair and text.lstrip(" \t").startswith("\n") and text.rstrip(" \t").endswith("\n")


def nothing_blank(text: str, _site: Site) -> str:
    """Blank ghost text flickers and says nothing."""
    return text if text.strip() else ""
