"""What of other open files is shown to the model with a request: which were visited lately, what of them resembles the
text around the cursor or defines the names in it."""

from midfill_server.context.neighbours import Neighbours

__all__ = ["Neighbours"]
