"""The gate: what belongs somewhere passes, whatever the state of the text around; what breaks a sound text does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_engine.syntax.gate import Gate, Verdict
from midfill_engine.syntax.grammars import SAME_NAMES

OWN_FILES = sorted(Path(__file__).parents[3].glob("*/midfill_*/*.py"))
TEXTS = {
    "javascript": "const a = [1, 2];\nfunction f(x) {\n  if (x > 1) {\n    return `a${x}`;\n  }\n  return { x };\n}\n",
    "typescriptreact": 'function F(p: { x: number }) {\n  return <a href="x">{p.x + 1}</a>;\n}\n',
    "rust": 'fn f(x: &str) -> Vec<u8> {\n    match x {\n        "a" => vec![1, 2],\n        _ => todo!(),\n    }\n}\n',
    "go": 'package a\n\nfunc f(x int) string {\n\tif x > 1 {\n\t\treturn "é"\n\t}\n\treturn fmt.Sprint(x)\n}\n',
    "java": "class A {\n  int f(int x){\n    for (int i = 0; i < x; i++) {\n      g();\n    }\n    return 1;\n  }\n}\n",
    "json": '{\n  "a": [1, 2, {"b": null}],\n  "c": "d"\n}\n',
    "yaml": "a:\n  - b: 1\n    c: [2, 3]\nd: e\n",
    "toml": '[a]\nb = "c"\nd = [1, 2]\n',
    "html": "<ul>\n  <li class='a'>b</li>\n</ul>\n",
}


@given(st.data())
def test_the_true_middle_is_never_worse(data: st.DataObject) -> None:
    """Of any text that parses, whatever piece is missing."""
    language = data.draw(st.sampled_from(["python", *TEXTS]))
    text = data.draw(st.sampled_from(OWN_FILES)).read_text("utf-8") if language == "python" else TEXTS[language]
    start = data.draw(st.integers(0, len(text)))
    end = min(start + data.draw(st.integers(0, 300)), len(text))
    assert not Gate(text[:start], text[end:], language).is_worse(text[start:end])


@given(st.data())
def test_the_rest_of_the_line_is_never_worse_while_nothing_follows_yet(data: st.DataObject) -> None:
    """Somebody types a text from its beginning to its end and is offered line by line what they mean."""
    language = data.draw(st.sampled_from(["javascript", "rust", "go", "java", "json"]))
    text = TEXTS[language]
    start = data.draw(st.integers(0, len(text)))
    line = text[start:].partition("\n")[0]
    assert not Gate(text[:start], "", language).is_worse(line)


@pytest.mark.parametrize(
    ("language", "marked", "middle"),
    [
        ("python", "def f(x):\n    |\n    return x\n", "x = (1\n    y = 2"),
        ("python", "x = f(|)\n", "a b"),
        ("python", "def f():\n    |\n", "return return"),
        ("javascript", "function f() {\n  |\n}\n", "return 1; }"),
        ("javascript", "f(|);\n", "a, ]"),
        ("rust", "fn f() {\n    |\n}\n", "let = ;"),
        ("json", '{\n  "a": 1|\n}\n', ', "b"'),
        ("toml", "[a]\n|\nb = 1\n", "c = = 2"),
        ("toml", "a = 1|\n", " b = 2"),
        ("toml", "a = 1\n|\n", "a = 2"),
        ("python", "def f(\n    *,\n    |\n    a=1,\n): ...\n", "*,"),
        ("python", "def f(a=1, |): ...\n", "b"),
        ("python", "for x in y:\n    |\n    z()\n", "else:"),
    ],
)
def test_what_breaks_the_text_is_worse(language: str, marked: str, middle: str) -> None:
    prefix, suffix = marked.split("|")
    assert Gate(prefix, suffix, language).is_worse(middle)


@pytest.mark.parametrize(
    ("language", "marked", "middle"),
    [
        ("python", "|", "def f(x):"),
        ("python", "class A:\n    |", "@property"),
        ("python", "x = f(a,|", " b"),
        ("python", "x = 1\n|\ny = 2\n", "try:"),
        ("python", "x = 1\n|\ny = 2\n", "match x:"),
        ("python", "x = 1\n|\ny = 2\n", "x = (a +"),
        ("python", "def f(a, |\n", "b"),
        ("python", "def f():\n    |\n", '"""Do'),
        ("javascript", "|\n", "if (x) {"),
        ("go", "package a\n\nfunc f() {\n\t|\n}\n", "for _, x := range y {"),
    ],
)
def test_what_is_not_finished_is_not_worse(language: str, marked: str, middle: str) -> None:
    """Line by line, every line that opens something would be called broken."""
    prefix, suffix = marked.split("|")
    assert not Gate(prefix, suffix, language).is_worse(middle)


def test_the_brackets_that_are_replaced_do_not_count() -> None:
    gate = Gate("print(", ")\n", "python")
    assert gate.is_worse("a) + f(b))")
    assert not gate.is_worse("a) + f(b)", num_replaced=1)


def test_a_language_that_is_not_known_has_no_gate() -> None:
    assert not Gate("f(", ")", "klingon").is_worse(")))")
    assert not Gate("f(", ")", "klingon").is_sound("x")


PIECES = st.lists(st.sampled_from(list("(){}[]:=\"'\n\t <>/aé😀#")), max_size=30).map("".join)


@given(st.sampled_from(sorted(SAME_NAMES)), PIECES, PIECES, PIECES)
def test_incremental_equals_full(language: str, prefix: str, middle: str, suffix: str) -> None:
    """A spliced tree tells of the same faults as one that is parsed from nothing, up to how the parser recovers."""
    from midfill_engine.syntax.source import parse

    base, whole = parse(prefix + suffix, language), parse(prefix + middle + suffix, language)
    assert base is not None
    assert whole is not None
    spliced = base.spliced(len(prefix), middle)
    assert spliced.data == whole.data
    assert spliced.root.end_byte == whole.root.end_byte


@pytest.mark.parametrize(
    ("language", "marked", "middle", "verdict"),
    [
        ("python", "x = |\n", "1", Verdict.SOUND),
        ("python", "x = |\n", "(", Verdict.NO_WORSE),
        ("python", "x = |\n", "1 1", Verdict.WORSE),
        ("python", "x = ( = |\n", "1", Verdict.NO_WORSE),
        ("toml", "a = |\n", "1", Verdict.SOUND),
        ("go", "package a\n|\n", "var x = 1", Verdict.SOUND),
        ("nothing known", "x = |\n", "1", Verdict.NO_WORSE),
    ],
)
def test_what_a_middle_does_to_the_text(language: str, marked: str, middle: str, verdict: Verdict) -> None:
    prefix, suffix = marked.split("|")
    assert Gate(prefix, suffix, language).verdict(middle) is verdict


def test_a_long_text_is_judged_from_statement_to_statement() -> None:
    """Cut anywhere, a text does not parse and nothing could be said of it."""
    text = "".join(f"def f{i}(x):\n    if x:\n        return [x,\n            {i}]\n\n" for i in range(1000))
    at = text.index("return [x,\n            500]")
    gate = Gate(text[:at], text[at + len("return [x,\n            500]") :], "python")
    assert gate.verdict("return [x,\n            500]") is Verdict.SOUND
    assert gate.verdict("def f(a=1, b): pass") is Verdict.WORSE
