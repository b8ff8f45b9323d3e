"""What a cursor `|` is in."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_engine.syntax.scope import ScopeKind, enclosing, extent_at

OWN_FILES = sorted(Path(__file__).parents[3].glob("*/midfill_*/*.py"))


@pytest.mark.parametrize(
    ("language", "marked", "names", "signature"),
    [
        ("python", "class A(B):\n    def f(self, é):\n        x = |1\n", ["f", "A"], "def f(self, é):"),
        ("python", "def f(\n    x,\n):\n    |return x\n", ["f"], "def f(\n    x,\n):"),
        ("python", "x = |1\n", [], ""),
        ("javascript", "class A {\n  f(x) {\n    g(|);\n  }\n}\n", ["f", "A"], "f(x)"),
        ("typescript", "function f(x: number): string {\n  return |x;\n}\n", ["f"], "function f(x: number): string"),
        ("rust", "impl A {\n    fn f(&self) -> u8 {\n        |1\n    }\n}\n", ["f", "A"], "fn f(&self) -> u8"),
        ("go", "package a\n\nfunc (a A) f(x int) {\n\t|g()\n}\n", ["f"], "func (a A) f(x int)"),
        ("java", "class A {\n  int f(int x) {\n    return |x;\n  }\n}\n", ["f", "A"], "int f(int x)"),
        ("klingon", "|", [], ""),
    ],
)
def test_the_scopes_around_a_cursor(language: str, marked: str, names: list[str], signature: str) -> None:
    before, after = marked.split("|")
    text = before + after
    scopes = enclosing(text, len(before), language)
    assert [scope.name for scope in scopes] == names
    if scopes:
        assert scopes[0].kind is ScopeKind.FUNCTION
        assert text[scopes[0].start : scopes[0].body].strip() == signature


@given(st.data())
def test_scopes_are_those_that_python_itself_sees(data: st.DataObject) -> None:
    """The oracle is Python's own parser."""
    text = data.draw(st.sampled_from(OWN_FILES)).read_text("utf-8")
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    if not nodes:
        return
    node = data.draw(st.sampled_from(nodes))
    lines = text.splitlines(keepends=True)
    offset = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    inner = enclosing(text, offset + 1, "python")[0]
    assert (inner.name, text.count("\n", 0, inner.end) + 1) == (node.name, node.end_lineno)


@pytest.mark.parametrize(
    ("marked", "statement", "block"),
    [
        ("def f():\n    x = |g(1)\n    y = 2\n\nz = 3\n", "g(1)", "g(1)\n    y = 2"),
        ("x = |1\ny = 2\n", "1", "1\ny = 2\n"),
    ],
)
def test_where_what_stands_at_a_cursor_ends(marked: str, statement: str, block: str) -> None:
    before, after = marked.split("|")
    extent = extent_at(before + after, len(before), "python")
    assert extent is not None
    assert after[: extent.statement_end - len(before)] == statement
    assert after[: extent.block_end - len(before)] == block
