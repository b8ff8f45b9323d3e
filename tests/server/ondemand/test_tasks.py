"""From a document and a place to holes: what is given around each, and what is refused with which word."""

from __future__ import annotations

import pytest

from midfill_engine.api import Mode
from midfill_server.documents import Document, split_lines
from midfill_server.ondemand.docstring import docstring_task
from midfill_server.ondemand.place import Place, text_in
from midfill_server.ondemand.selecting import fill_task, rewrite_task
from midfill_server.ondemand.task import NothingToDo, Task
from midfill_server.ondemand.testing import write_test_task
from midfill_server.positions import Point

FILLED = "<filled>"


def at(row: int, column: int = 0) -> Place:
    return Place(Point(row, column), Point(row, column))


def document_of(text: str, language: str = "python") -> Document:
    return Document("file:///a", language, 1, text)


def result_of(document: Document, task: Task) -> str:
    """The document with its one hole filled."""
    (hole,) = task.holes
    start, end = hole.place.start, hole.place.end
    before = text_in(document.lines, Place(Point(0, 0), start))
    after = text_in(document.lines, Place(end, Point(len(document.lines) - 1, len(document.lines[-1]))))
    return before + hole.lead + FILLED + hole.tail + after


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        ("def f():\n    pass\n", 0, 'def f():\n    """<filled>"""\n    pass\n'),
        ("def f():\n\tpass\n", 1, 'def f():\n\t"""<filled>"""\n\tpass\n'),
        ("def f():\n", 0, 'def f():\n    """<filled>"""\n'),
        ('def f():\n    """"""\n    pass\n', 0, 'def f():\n    """<filled>"""\n    pass\n'),
        ('def f():\n    """\n    """\n    pass\n', 0, 'def f():\n    """<filled>"""\n    pass\n'),
        ('def f():\n    """Do it."""\n    pass\n', 0,
         'def f():\n    """Do it.\n\n    <filled>\n    """\n    pass\n'),
        ('def f():\n    """Do it"""\n    pass\n', 0, 'def f():\n    """Do it<filled>"""\n    pass\n'),
        ("class A:\n    x = 1\n\n    def f(self):\n        pass\n", 1,
         'class A:\n    """<filled>"""\n    x = 1\n\n    def f(self):\n        pass\n'),
        ("class A:\n    def f(self):\n        pass\n", 2,
         'class A:\n    def f(self):\n        """<filled>"""\n        pass\n'),
        ("def f():\n    r'''Do'''\n", 1, "def f():\n    r'''Do<filled>'''\n"),
        ('def f():\n    """Do it.\n\n    More\n    """\n    pass\n', 0,
         'def f():\n    """Do it.\n\n    More<filled>\n    """\n    pass\n'),
        ('def f():\n    """\n    return 1\n\ndef g():\n    """G."""\n', 0,
         'def f():\n    """<filled>"""\n    return 1\n\ndef g():\n    """G."""\n'),
        ('def f():\n    """Sum \n    return 1\n', 0, 'def f():\n    """Sum<filled>"""\n    return 1\n'),
        ("def f(a,\n      b):  # both\n    pass\n", 2, 'def f(a,\n      b):  # both\n    """<filled>"""\n    pass\n'),
    ],
)  # fmt: skip
def test_the_docstring_is_begun_gone_on_with_or_closed(text: str, row: int, expected: str) -> None:
    document = document_of(text)
    task = docstring_task(document, at(row), "")
    assert result_of(document, task) == expected
    assert task.mode is (Mode.BLOCK if "More" in text or "it.\n\n" in expected else Mode.LINE)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("javascript", "function f() {\n}\n", "/** <filled> */\nfunction f() {\n}\n"),
        ("rust", "  fn f() {\n  }\n", "  /// <filled>\n  fn f() {\n  }\n"),
        ("rust", "#[test]\nfn f() {\n}\n", "/// <filled>\n#[test]\nfn f() {\n}\n"),
        ("go", "func F() {\n}\n", "// F <filled>\nfunc F() {\n}\n"),
    ],
)
def test_comments_of_other_languages_stand_above(language: str, text: str, expected: str) -> None:
    document = document_of(text, language)
    assert result_of(document, docstring_task(document, at(0), "")) == expected


@pytest.mark.parametrize(
    ("text", "language", "message"),
    [
        ("def f(): return 1\n", "python", "the body stands on the line of its def"),
        ("x = 1\n", "python", "there is no function or class here"),
        ("// F is here.\nfunc F() {\n}\n", "go", "there is a comment already"),
    ],
)
def test_where_no_docstring_can_be_begun(text: str, language: str, message: str) -> None:
    with pytest.raises(NothingToDo, match=message):
        docstring_task(document_of(text, language), at(text.count("\n") - 1), "")


@pytest.mark.parametrize(
    ("language", "text", "row", "expected"),
    [
        ("python", "def f():\n    pass", 0, "def f():\n    pass\n\n\ndef test_f():\n    <filled>\n"),
        ("python", "def f():\n    pass\n\n\n\n", 0, "def f():\n    pass\n\n\n\ndef test_f():\n    <filled>\n"),
        ("python", "def _f(): pass\ntest_f = test_f_2 = 1\n", 0,
         "def _f(): pass\ntest_f = test_f_2 = 1\n\n\ndef test_f_3():\n    <filled>\n"),
        ("python", "class BigBox:\n    def open(self):\n        pass\n", 2,
         "class BigBox:\n    def open(self):\n        pass\n\n\ndef test_big_box_open():\n    <filled>\n"),
        ("go", "func area() {\n}\n", 0, "func area() {\n}\n\nfunc TestArea(t *testing.T) {\n\t<filled>\n}\n"),
        ("javascript", "function f() {\n}\n", 0, 'function f() {\n}\n\ntest("f", () => {\n  <filled>\n});\n'),
        ("rust", "fn f() {\n}\n", 0,
         "fn f() {\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
         "    #[test]\n    fn test_f() {\n        <filled>\n    }\n}\n"),
        ("rust", "fn f() {\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n", 0,
         "fn f() {\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
         "    #[test]\n    fn test_f() {\n        <filled>\n    }\n}\n"),
        ("python", "async def f():\n    pass\n", 1,
         "async def f():\n    pass\n\n\nasync def test_f():\n    <filled>\n"),
        ("typescript", "class A {\n  run(x: string): void {\n    if (x) {\n      y();\n    }\n  }\n}\n", 3,
         "class A {\n  run(x: string): void {\n    if (x) {\n      y();\n    }\n  }\n}\n\n"
         'test("run", () => {\n  <filled>\n});\n'),
    ],
)  # fmt: skip
def test_a_test_is_begun_in_the_languages_own_form(language: str, text: str, row: int, expected: str) -> None:
    document = document_of(text, language)
    task = write_test_task(document, at(row), "")
    assert (result_of(document, task), task.mode) == (expected, Mode.BLOCK)


def test_in_what_language_no_test_can_be_begun() -> None:
    with pytest.raises(NothingToDo, match="how a test begins in cobol is not known"):
        write_test_task(document_of("x", "cobol"), at(0), "")


@pytest.mark.parametrize(
    ("text", "start", "end", "mode"),
    [
        ("a\nb\nc\n", (0, 0), (1, 1), Mode.BLOCK),
        ("f(a, b)\n", (0, 2), (0, 3), Mode.LINE),
        ("x = 1\n", (0, 4), (0, 5), Mode.AUTO),
    ],
)
def test_how_far_a_rewrite_may_reach(text: str, start: tuple[int, int], end: tuple[int, int], mode: Mode) -> None:
    task = rewrite_task(document_of(text), Place(Point(*start), Point(*end)), "")
    assert (task.mode, task.needs_confirmation) == (mode, True)


def test_a_rewrite_needs_a_selection_and_a_fill_a_position() -> None:
    document = document_of("x = \n")
    for place in (None, at(0)):
        with pytest.raises(NothingToDo, match="nothing is selected"):
            rewrite_task(document, place, "")
    with pytest.raises(NothingToDo, match="a position or a range is needed"):
        fill_task(document, None, "")
    assert fill_task(document, at(0, 4), "").needs_confirmation is False
    assert split_lines("") == [""]
