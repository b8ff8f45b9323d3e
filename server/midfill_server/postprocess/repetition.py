"""A model that has lost its way says the same line again and again."""

from __future__ import annotations

from midfill_server.postprocess.site import Site

MOST_ALIKE = 2


def without_repetition(text: str, _site: Site) -> str:
    """Cut before the third of three equal lines in a row, and then offer but one of them."""
    lines = text.split("\n")
    for row in range(len(lines) - MOST_ALIKE):
        alike = lines[row : row + MOST_ALIKE + 1]
        if alike[0].strip() and len(set(alike)) == 1:
            return "\n".join(lines[: row + 1])
    return text
