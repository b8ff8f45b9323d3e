"""An offer's place in the client's units."""

from __future__ import annotations

from lsprotocol import types

from midfill_server.positions import Encoding, units_of
from midfill_server.question import Offer


def range_of(offer: Offer, encoding: Encoding, num_before: int = 0) -> types.Range:
    """The range, on one line, that the offer replaces, and `num_before` characters before it."""
    start, end = (units_of(offer.line, column, encoding) for column in (offer.start - num_before, offer.end))
    return types.Range(types.Position(offer.row, start), types.Position(offer.row, end))
