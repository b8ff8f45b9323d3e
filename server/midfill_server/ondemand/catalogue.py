"""Which command makes which task."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from midfill_server.capabilities import DOCSTRING, FILL, FILL_HOLE, FILL_HOLES, REWRITE, WRITE_TEST
from midfill_server.documents import Document
from midfill_server.ondemand.docstring import docstring_task
from midfill_server.ondemand.holes import fill_hole_task, fill_holes_task
from midfill_server.ondemand.place import Place
from midfill_server.ondemand.selecting import fill_task, rewrite_task
from midfill_server.ondemand.task import Task
from midfill_server.ondemand.testing import write_test_task

MakeTask = Callable[[Document, Place | None, str], Task]
"""From a document, a place in it and an instruction; raises NothingToDo with the reason."""

TASKS: Mapping[str, MakeTask] = {
    FILL: fill_task,
    REWRITE: rewrite_task,
    FILL_HOLE: fill_hole_task,
    FILL_HOLES: fill_holes_task,
    WRITE_TEST: write_test_task,
    DOCSTRING: docstring_task,
}
