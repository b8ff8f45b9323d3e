"""Lines: how they end, and how many there may be."""

from __future__ import annotations

import re

from midfill_server.postprocess.site import Site

RETURN = re.compile(r"\r\n?")


def plain_newlines(text: str, _site: Site) -> str:
    """Only \\n. Editors put in the file's own line end; Neovim would show a \\r as ^M."""
    return RETURN.sub("\n", text)


def one_line_where_text_follows(text: str, site: Site) -> str:
    """A middle inside a line stays inside it. What an editor closed by itself does not count as text."""
    return text if site.only_closers_follow else text.partition("\n")[0]
