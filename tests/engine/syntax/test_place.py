"""What stands at a cursor `|`."""

from __future__ import annotations

import pytest

from midfill_engine.syntax.place import Place, Where, place_at


def at(language: str, marked: str) -> Place:
    place = place_at(*marked.split("|"), language)
    assert place is not None
    return place


@pytest.mark.parametrize(
    ("language", "marked", "where"),
    [
        ("python", "x = 1  # the quick |\n", Where.COMMENT),
        ("python", "# the quick |", Where.COMMENT),
        ("python", "# don't |\nx = 1\n", Where.COMMENT),
        ("python", "|# the quick\n", Where.CODE),
        ("python", 'x = "hello |"\n', Where.STRING),
        ("python", 'x = "hello |\n', Where.STRING),
        ("python", 'x = "hello" |\n', Where.CODE),
        ("python", 'x = f"a {|x} b"\n', Where.CODE),
        ("python", 'x = f"a {x} |b"\n', Where.STRING),
        ("python", 'def f():\n    """Say |\n\n    more."""\n', Where.STRING),
        ("python", "x = é + |1\n", Where.CODE),
        ("python", "s = '😀' # é |\n", Where.COMMENT),
        ("javascript", "f(); // the |\n", Where.COMMENT),
        ("javascript", "/* the | */\n", Where.COMMENT),
        ("javascript", "/* the */| f();\n", Where.CODE),
        ("javascript", "x = `a ${|y} b`;\n", Where.CODE),
        ("javascript", "x = `a ${y} |b`;\n", Where.STRING),
        ("javascript", "x = 'hello |';\n", Where.STRING),
        ("typescript", "let x: Array<|string> = [];\n", Where.CODE),
        ("rust", "fn f<'a>(x: &'a |str) {}\n", Where.CODE),
        ("rust", "// the |\nfn f() {}\n", Where.COMMENT),
        ("cpp", "template <class |T> T f();\n", Where.CODE),
        ("go", 'package a\n\nvar x = "a|"\n', Where.STRING),
        ("html", "<p>a <!-- b | --></p>\n", Where.COMMENT),
        ("json", '{"a": "b|"}\n', Where.CODE),
        ("python", "|", Where.CODE),
    ],
)
def test_where_a_cursor_is(language: str, marked: str, where: Where) -> None:
    assert at(language, marked).where is where


@pytest.mark.parametrize(
    ("language", "marked", "opens_block"),
    [
        ("python", "def f(x):|\n", True),
        ("python", "if x:|", True),
        ("python", "def f():\n    for x in y:|\n\n    return x\n", True),
        ("python", "def f(x):|\n    return x\n", True),
        ("python", "x = {1:|\n", False),
        ("python", "x = {1:|}\n", False),
        ("python", "f = lambda x:|\n", False),
        ("python", "x[1:|]\n", False),
        ("python", "# so:|\n", False),
        ("python", "x = 1|\n", False),
        ("python", "    |\n", False),
        ("javascript", "function f() {|\n", True),
        ("javascript", "function f() {|}\n", True),
        ("javascript", "const x = {a:|};\n", False),
        ("javascript", "switch (x) {\n  case 1:|\n}\n", True),
        ("yaml", "a:|\nb: 1\n", True),
        ("go", "package a\n\nfunc f() {|\n}\n", True),
        ("lua", "if x then|\n", True),
        ("json", '{"a":|}\n', False),
    ],
)
def test_whether_a_line_opens_a_block(language: str, marked: str, opens_block: bool) -> None:
    assert at(language, marked).opens_block is opens_block


def test_of_a_language_that_is_not_known_nothing_is_known() -> None:
    assert place_at("x = ", "", "klingon") is None


def test_a_minified_line_and_a_big_file_are_cut() -> None:
    """Only what is near is parsed: a line of a megabyte would stall every key."""
    assert at("javascript", "f('a');" * 200_000 + "// b|" + "\n" + "g();" * 200_000).where is Where.COMMENT
