"""Holes, told as texts in which `⟦` and `⟧` stand around each: what is one, what is none, and what fits into them."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_engine.syntax.grammars import OTHER_NAMES, SAME_NAMES
from midfill_engine.syntax.holes import Hole, HoleKind, find_holes


def marked(text: str, holes: tuple[Hole, ...]) -> str:
    for hole in reversed(holes):
        text = f"{text[: hole.start]}⟦{text[hole.start : hole.end]}⟧{text[hole.end :]}"
    return text


def check(language: str, expected: str, *kinds: HoleKind, is_stub: bool = False) -> tuple[Hole, ...]:
    text = expected.replace("⟦", "").replace("⟧", "")
    holes = find_holes(text, language, is_stub=is_stub)
    assert marked(text, holes) == expected
    if kinds:
        assert tuple(hole.kind for hole in holes) == kinds
    return holes


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("def f():\n    ⟦pass⟧\n", HoleKind.PASS),
        ("def f(): ⟦pass⟧\n", HoleKind.PASS),
        ('def f():\n    """Say something."""\n    ⟦pass⟧\n\nx = 1\n', HoleKind.PASS),
        ("def f():\n    # like this\n    ⟦...⟧\n", HoleKind.ELLIPSIS),
        ("if x:\n    ⟦pass⟧\n", HoleKind.PASS),
        ("if x:\n    y()\nelse:\n    ⟦pass⟧\n", HoleKind.PASS),
        ("for x in y:\n    ⟦pass⟧\n", HoleKind.PASS),
        ("with x:\n    ⟦pass⟧\n", HoleKind.PASS),
        ("class A:\n    def f(self):\n        ⟦raise NotImplementedError⟧\n", HoleKind.UNIMPLEMENTED),
        ("def f():\n    ⟦raise NotImplementedError('é')⟧\n", HoleKind.UNIMPLEMENTED),
        ("s = '😀é'\ndef f():\n    ⟦pass⟧\n", HoleKind.PASS),
        ("x = ⟦<FILL>⟧\n", HoleKind.MARKER),
        ("def f():\n    x = 1\n    ⟦▮⟧\n    return x\n", HoleKind.MARKER),
        ("def f():\n    x = 1\n    # TODO: double it⟦⟧\n\ny = 2\n", HoleKind.TODO),
        ("def f():\n    x = 1\n    # TODO: double it,\n    # and then again⟦⟧\n", HoleKind.TODO),
        ("x = ⟦⟧\ny = 1\n", HoleKind.ERROR),
        ("def f(x):\n    return foo(x, ⟦⟧\n\ndef g():\n    return 1\n", HoleKind.ERROR),
    ],
)
def test_what_is_a_hole_in_python(text: str, kind: HoleKind) -> None:
    check("python", text, kind)


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    x()\nexcept E:\n    pass\n",
        "class E(Exception):\n    pass\n",
        "class E(Exception): ...\n",
        "while not x():\n    pass\n",
        "match x:\n    case 1:\n        pass\n",
        "class A(Protocol):\n    def f(self) -> int: ...\n",
        "class A(ABC):\n    @abstractmethod\n    def f(self) -> int:\n        raise NotImplementedError\n",
        "@overload\ndef f(x: int) -> int: ...\n",
        "x = ...\n",
        "def f(x: tuple[int, ...] = ...):\n    return x[..., 0]\n",
        "def f():\n    x = 1\n    pass\n    return x\n",
        "s = 'pass ... raise NotImplementedError'  # pass\n",
        "# TODO: rename this\ndef f():\n    return 1\n",
        "s = '''\n# TODO: no comment\n\n'''\n",
        "try:\n    x()\nexcept NotImplementedError:\n    y()\n",
        "def f():\n    pass  # there is nothing to do\n",
        "class A:\n    def f(self, x,\n            y):\n        return x\n",
        "def f(x):\n    if x and \\\n            y:\n        return x\n",
        "",
        "\n\n",
    ],
)
def test_what_is_right_as_it_is_in_python(text: str) -> None:
    check("python", text)


def test_in_a_stub_no_body_is_missing() -> None:
    check("python", "def f() -> int: ...\ndef g(): pass\n", is_stub=True)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("rust", "fn f() -> u8 {\n    ⟦todo!()⟧\n}\n"),
        ("rust", 'fn f() -> u8 {\n    ⟦unimplemented!("later");⟧\n}\n'),
        ("rust", "fn f() -> u8 {\n    let x = ⟦todo!()⟧;\n    x\n}\n"),
        ("rust", "fn f() {⟦⟧}\nimpl X for Y {}\nstruct S {}\n"),
        ("javascript", "function f() {\n  ⟦throw new Error('not implemented');⟧\n}\n"),
        ("javascript", "function f() {⟦⟧}\ntry { x(); } catch {}\nclass A {}\nconst o = {};\non(() => {});\n"),
        ("javascript", "const f = () => {⟦⟧};\n"),
        ("typescript", "class A {\n  constructor(private x: number) {}\n  f(): void {⟦\n  ⟧}\n}\n"),
        ("typescriptreact", "function F() {\n  if (x) {⟦⟧}\n  return <a></a>;\n}\n"),
        (
            "java",
            'class A {\n  A() {}\n  void f() {⟦⟧}\n  int g() { ⟦throw new X("Not implemented");⟧ }\n}\n',
        ),
        ("csharp", "class A {\n  int F() { ⟦throw new NotImplementedException();⟧ }\n}\n"),
        ("go", 'package a\n\nfunc f() {⟦⟧}\n\nfunc g() {\n\t⟦panic("not implemented")⟧\n}\n\ntype T struct{}\n'),
        ("c", "int f(void) {⟦⟧}\n"),
        ("cpp", "void A::f() {⟦⟧}\nstruct S {};\n"),
        ("ruby", "def f\n  ⟦raise NotImplementedError⟧\nend\n"),
        ("kotlin", "fun f(): Int = ⟦TODO()⟧\n"),
        ("scala", "def f: Int = ⟦???⟧\n"),
        ("javascript", "function f() {\n  // TODO: count⟦⟧\n}\n"),
        ("javascript", "const x = ⟦⟧;\nfunction f() { return 1 }\n"),
    ],
)
def test_other_languages(language: str, text: str) -> None:
    check(language, text)


def test_a_body_gets_lines_of_its_own() -> None:
    """An empty body has no line to write on: line ends and indentation come with the hole."""
    text = "class A {\n\tf() {}\n}\n"
    (hole,) = find_holes(text, "typescript")
    before, after = hole.around(text)
    assert before + "g();" + after == "class A {\n\tf() {\n\t\tg();\n\t}\n}\n"


@pytest.mark.parametrize("text", ["def f(x):\n", "def f(x):\n\ny = 1\n", "def f(x):\n    \n\ny = 1\n", "def f(x):"])
def test_a_missing_body_is_a_hole(text: str) -> None:
    (hole,) = find_holes(text, "python")
    before, after = hole.around(text)
    ast.parse(before + "return x" + after)
    assert hole.kind is HoleKind.EMPTY


def test_a_todo_is_kept_and_done_below_it() -> None:
    text = "def f(x):\n    # TODO: double it\n"
    (hole,) = find_holes(text, "python")
    before, after = hole.around(text)
    assert before + "return 2 * x" + after == "def f(x):\n    # TODO: double it\n    return 2 * x\n"


def test_an_unknown_language_has_no_holes() -> None:
    assert find_holes("def f():\n    pass\n", "klingon") == ()


def test_a_long_text_is_looked_at_near_the_place_only() -> None:
    """Parsing five megabytes takes a second; nobody waits that long for a menu."""
    text = "def f():\n    return 1\n\n" * 200_000 + "def g():\n    pass\n"
    (hole,) = find_holes(text, "python", around=len(text) - 10)
    assert text[hole.start : hole.end] == "pass"
    assert find_holes(text, "python") == ()


LANGUAGES = sorted(SAME_NAMES | set(OTHER_NAMES))
PIECES = [
    "pass",
    "...",
    "{}",
    "{ }",
    ":",
    "\n",
    "    ",
    "\t",
    "# TODO",
    "// FIXME",
    "todo!()",
    "é😀",
    "def f()",
    "fn f()",
    "(",
]


@given(st.sampled_from(LANGUAGES), st.lists(st.sampled_from(PIECES)).map("".join))
def test_whatever_the_text_holes_are_apart_and_in_it(language: str, text: str) -> None:
    holes = find_holes(text, language)
    places = [place for hole in holes for place in (hole.start, hole.end)]
    assert places == sorted(places)
    assert all(0 <= place <= len(text) for place in places)
