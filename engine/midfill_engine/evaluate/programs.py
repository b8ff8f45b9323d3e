"""From a case's tests and a whole program to a job for the sandbox, one way per runner of a tests file.

py: the program, then the code; or, where a `context` holds `{{Code}}`, the context with the program in its places, then
the code. py-unittest: the program as a module of that name beside a module of tests. node: the program, then the code.
java: the program without the last two braces, which the code closes itself.
"""

from __future__ import annotations

import re
import secrets
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from midfill_engine.errors import RequestError
from midfill_engine.evaluate.cases import read_records
from midfill_engine.evaluate.sandbox import Job, Memory

_GUARD = Path(__file__).with_name("guard.py")
_PLACE = "{{Code}}"
_MISSING_LIBRARY = re.compile(r"^import org\.javatuples\.\*;", re.M)  # imported by all, used by hardly any
_JAVA_CLASS = re.compile(r"^(?:public )?class Problem\b", re.M)
_JAVA_OPTIONS = ("-ea", "-Xmx384m", "-Xss8m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
_NODE_OPTIONS = ("--max-old-space-size=512",)


@dataclass(frozen=True, kw_only=True)
class CaseTests:
    """One line of a tests file. `module`, `test` and `files` are for py-unittest."""

    key: str
    runner: str
    code: str = ""
    context: str = ""
    module: str = ""
    test: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


def read_tests(path: Path) -> dict[str, CaseTests]:
    """Tests by their keys.

    Raises:
        RequestError: which line, and which field of it, is wrong.
        OSError: the file cannot be read.
    """
    return {test.key: test for number, record in read_records(path) for test in [_test(record, path.name, number)]}


def _test(record: dict[str, object], name: str, number: int) -> CaseTests:
    where = f"{name} line {number}"
    texts = {key: record.get(key, "") for key in ("key", "runner", "code", "context", "module", "test")}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise RequestError(f"{where}: field {key!r} must be text, got {type(value).__name__}")
    if not texts["key"]:
        raise RequestError(f"{where}: field 'key' is missing")
    if texts["runner"] not in RUNNERS:
        raise RequestError(f"{where}: field 'runner' must be one of {', '.join(RUNNERS)}, got {texts['runner']!r}")
    if texts["runner"] == "py-unittest" and not str(texts["module"]).isidentifier():
        raise RequestError(f"{where}: field 'module' must be a module's name, got {texts['module']!r}")
    return CaseTests(**{key: str(value) for key, value in texts.items()}, files=_files(record.get("files", {}), where))


def _files(files: object, where: str) -> Mapping[str, str]:
    is_right = isinstance(files, dict) and all(
        isinstance(text, str) and Path(name).name == name for name, text in files.items()
    )
    if not is_right:
        raise RequestError(f"{where}: field 'files' must be texts by file names without folders")
    return dict(files) if isinstance(files, dict) else {}


@dataclass(frozen=True, kw_only=True)
class Runner:
    """`program`: what must be installed, found by name. `is_guarded`: it has no network even without a namespace."""

    make: Callable[[CaseTests, str, str, str], Job]
    program: str
    is_guarded: bool = False

    def find(self) -> str | None:
        """The program's absolute path, if it is there."""
        return sys.executable if self.program == "python" else shutil.which(self.program)


def make_job(test: CaseTests, program: str, executable: str) -> Job:
    """What tells whether `program`, a whole file, passes."""
    return RUNNERS[test.runner].make(test, program, executable, secrets.token_hex(8))


def _python(test: CaseTests, program: str, executable: str, word: str) -> Job:
    files = {"program.py": _with_context(test.context, program) + "\n" + test.code}
    return Job(command=(executable, "-I", "-B", str(_GUARD), "script", "program.py"), files=files, word=word)


def _with_context(context: str, program: str) -> str:
    return context.replace(_PLACE, program) if _PLACE in context else context + program


def _unittest(test: CaseTests, program: str, executable: str, word: str) -> Job:
    tests = f"{test.module}_test"
    files = {**test.files, f"{test.module}.py": program, f"{tests}.py": test.test}
    return Job(command=(executable, "-I", "-B", str(_GUARD), "unittest", tests), files=files, word=word)


def _node(test: CaseTests, program: str, executable: str, word: str) -> Job:
    text = f'{program}\n{test.code}\n;require("node:fs").writeSync(1, "\\n{word}\\n");\n'
    return Job(
        command=(executable, *_NODE_OPTIONS, "program.js"), files={"program.js": text}, word=word, memory=Memory.DATA
    )


def _java(test: CaseTests, program: str, executable: str, word: str) -> Job:
    text = _MISSING_LIBRARY.sub("", _without_closers(program, 2)) + "\n" + test.code
    gate = (
        "class Gate { public static void main(String[] arguments) throws Throwable { "
        f'Problem.main(arguments); System.out.println("\\n{word}"); }} }}\n'
    )
    first = _JAVA_CLASS.search(text)
    text = text[: first.start()] + gate + text[first.start() :] if first else text
    return Job(
        command=(executable, *_JAVA_OPTIONS, "Gate.java"), files={"Gate.java": text}, word=word, memory=Memory.DATA
    )


def _without_closers(text: str, number: int) -> str:
    """`text` without so many closing braces at its end."""
    for _ in range(number):
        text = text.rstrip()
        text = text.removesuffix("}")
    return text


RUNNERS: Mapping[str, Runner] = {
    "py": Runner(make=_python, program="python", is_guarded=True),
    "py-unittest": Runner(make=_unittest, program="python", is_guarded=True),
    "node": Runner(make=_node, program="node"),
    "java": Runner(make=_java, program="java"),
}
