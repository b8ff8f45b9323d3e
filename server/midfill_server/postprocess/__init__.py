"""From a model's middle to what an editor may show: one ordered chain of small functions.

Each link takes the text and the site (what stands before and after) and gives a shorter, a repaired or the same text;
nothing left means that nothing is offered. The order matters: line ends first, because everything else counts lines;
then what is too long, what is there already, and brackets, because they count what remains; rows of tables; blankness.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from midfill_server.postprocess.blank import nothing_blank, without_trailing_space
from midfill_server.postprocess.brackets import num_absorbed, without_surplus_at_end
from midfill_server.postprocess.indent import in_unit_of_file, without_double_indent
from midfill_server.postprocess.newlines import one_line_where_text_follows, plain_newlines
from midfill_server.postprocess.overlap import without_following_lines, without_rest_of_line
from midfill_server.postprocess.repetition import without_repetition
from midfill_server.postprocess.site import Site
from midfill_server.postprocess.tables import rows_of_table

__all__ = ["CHAIN", "Middle", "Site", "tidy"]

Link = Callable[[str, Site], str]

CHAIN: tuple[Link, ...] = (
    plain_newlines,
    one_line_where_text_follows,
    without_double_indent,
    in_unit_of_file,
    without_following_lines,
    without_rest_of_line,
    without_surplus_at_end,
    without_repetition,
    rows_of_table,
    without_trailing_space,
    nothing_blank,
)


@dataclass(frozen=True)
class Middle:
    """What is offered. `num_absorbed` characters right of the cursor are replaced, because the text has them too."""

    text: str
    num_absorbed: int = 0


def tidy(text: str, site: Site) -> Middle | None:
    """The text as it may be offered at this site; None if nothing is left of it."""
    for link in CHAIN:
        text = link(text, site)
        if not text:
            return None
    return Middle(text, num_absorbed(text, site))
