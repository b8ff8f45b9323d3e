"""How an unexpected exception becomes an EngineError, and what of it goes into the log.

An EngineError passes as it is. Of anything else in a fill only its kind and place are kept, never `str(error)`: a
library's message may quote the user's text.
"""

from __future__ import annotations

import logging
import traceback

from midfill_engine.errors import EngineError, EngineUnavailable, ResourceError

logger = logging.getLogger(__name__)


def again(error: EngineError) -> EngineError:
    """The same failure as a new exception: one that is raised in several tasks would gather their tracebacks."""
    return type(error)(*error.args)


def stopped() -> EngineError:
    return EngineUnavailable("the engine was stopped; the next request starts it again")


def of_load(error: Exception) -> EngineError:
    """What everybody is told who wanted the model that could not be loaded."""
    if isinstance(error, EngineError):
        return error
    logger.error("loading failed", exc_info=error)
    if _is_memory(error):
        return ResourceError("there is not enough memory for this preset; close other programs or choose a smaller one")
    return EngineError(f"the model could not be loaded ({_one_line(error)})")


def of_fill(error: Exception, request_id: str) -> EngineError:
    """What the caller of a failed fill is told."""
    if isinstance(error, EngineError):
        return error
    where = "".join(traceback.format_tb(error.__traceback__))
    logger.error("request %r failed with %s at\n%s", request_id, type(error).__name__, where)
    if _is_memory(error):
        return ResourceError("the memory did not suffice for this fill; ask for fewer tokens or candidates")
    return EngineError(f"the fill failed inside the engine ({type(error).__name__}); its log says where")


def _one_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _is_memory(error: Exception) -> bool:
    # torch.OutOfMemoryError without importing torch.
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
