"""Evaluation cases: holes in real files with the text that stood there, one JSON object a line, gzipped or not."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from midfill_engine.errors import RequestError

NEXT_EDIT = "next-edit"
REWRITE = "rewrite-selection"


@dataclass(frozen=True, kw_only=True)
class Case:
    """`middle` stood between `prefix` and `suffix`. `kind`: what kind of hole it is, for example `one-line`.

    `group`: cases that are not independent of each other share one (the file or function they were cut from).
    `tests`: key of the tests that the whole program should pass, if any. `selection`: what stands in the hole now and
    `instruction`: what to do with it.
    """

    id: str
    kind: str
    language: str
    prefix: str
    middle: str
    suffix: str
    group: str
    suite: str = ""
    tests: str | None = None
    selection: str = ""
    instruction: str = ""

    def whole(self, middle: str) -> str:
        """The file with another middle."""
        return self.prefix + middle + self.suffix


_REQUIRED = ("id", "kind", "language", "prefix", "middle", "suffix")


def read_cases(path: Path) -> list[Case]:
    """All cases of a file, in its order.

    Raises:
        RequestError: which line, and which field of it, is wrong.
        OSError: the file cannot be read.
    """
    seen: dict[str, int] = {}
    cases = []
    for number, record in read_records(path):
        case = _case(record, f"{path.name} line {number}")
        if case.id in seen:
            raise RequestError(f"{path.name} line {number}: id {case.id!r} stands on line {seen[case.id]} already")
        seen[case.id] = number
        cases.append(case)
    if not cases:
        raise RequestError(f"{path.name} holds no cases")
    return cases


def read_records(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """The objects of a JSON-lines file with their line numbers, blank lines left out."""
    for number, line in _lines(path):
        if line.strip():
            yield number, _record(line, f"{path.name} line {number}")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with _open(path) as opened:
            for number, line in enumerate(opened, 1):
                yield number, line
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise RequestError(f"{path.name} cannot be read behind line {number}: {error}") from None


def _open(path: Path) -> TextIO:
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def _record(line: str, where: str) -> dict[str, object]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{where} is no JSON: {error}") from None
    if not isinstance(record, dict):
        raise RequestError(f"{where} must hold an object, got {type(record).__name__}")
    return record


def _case(record: dict[str, object], where: str) -> Case:
    missing = [name for name in _REQUIRED if name not in record]
    if missing:
        raise RequestError(f"{where}: field {missing[0]!r} is missing")
    case_id = _text(record, "id", where)
    return Case(
        id=case_id,
        kind=_text(record, "kind", where),
        language=_text(record, "language", where),
        prefix=_text(record, "prefix", where),
        middle=_text(record, "middle", where),
        suffix=_text(record, "suffix", where),
        group=_text(record, "group", where) or case_id,
        suite=_text(record, "suite", where),
        tests=_text(record, "tests", where) or None,
        selection=_text(record, "selection", where),
        instruction=_text(record, "instruction", where),
    )


def _text(record: dict[str, object], name: str, where: str) -> str:
    value = record.get(name)
    if value is None and name not in _REQUIRED:
        return ""
    if not isinstance(value, str):
        raise RequestError(f"{where}: field {name!r} must be text, got {type(value).__name__}")
    return value
