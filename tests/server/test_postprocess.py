"""The chain from a model's middle to what may be offered, told as whole texts: before, what the model said, after."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_server.postprocess import Site, tidy


def result(marked: str, said: str) -> str | None:
    """The text after acceptance; None if nothing is offered. `|` marks the cursor."""
    prefix, suffix = marked.split("|")
    middle = tidy(said, Site(prefix, suffix))
    return None if middle is None else prefix + middle.text + suffix[middle.num_absorbed :]


def check(marked: str, said: str, expected: str | None) -> None:
    assert result(marked, said) == expected


def test_line_ends_are_plain() -> None:
    """Row 6 (continue#3591): accepted text added blank lines to files with \\r\\n."""
    check("a = 1\nb = |\n", "2\r\nc = 3\r", "a = 1\nb = 2\nc = 3\n")


@pytest.mark.parametrize(
    ("marked", "said", "expected"),
    [
        ("print(foo|)", ", bar)", "print(foo, bar)"),
        ("foo(bar(|))", "x)", "foo(bar(x))"),
        ("foo(bar(|))", "x))", "foo(bar(x))"),
        ("foo(bar(|))", "y())", "foo(bar(y()))"),
        ("print(|)", "foo(a)", "print(foo(a))"),
        ("print(|)", "foo(a))", "print(foo(a))"),
        ("a[|]", "i]", "a[i]"),
        ("x = {|}", '"a": [1]}', 'x = {"a": [1]}'),
        ('s = "hello |"', 'world"', 's = "hello world"'),
        ('print("hello |")', 'world")', 'print("hello world")'),
        ("print(|)", '"a" + "b"', 'print("a" + "b")'),
        ("foo(|);", "a);", "foo(a);"),
        ("foo(bar(x|)", "y)", "foo(bar(xy))"),
        ("foo(\n    a|\n)\n", ", b)", "foo(\n    a, b\n)\n"),
    ],
)
def test_a_closing_bracket_is_never_doubled(marked: str, said: str, expected: str) -> None:
    """Row 9 (tabnine-vscode#1078): the editor has closed the bracket, and so does the model."""
    check(marked, said, expected)


@pytest.mark.parametrize(
    ("marked", "said", "expected"),
    [
        ("foo(bar(|))", "x) + y", "foo(bar(x) + y)"),
        ("def f(|)", "a, b):\n    return a", "def f(a, b):\n    return a"),
        ("if foo(|):", "x) and bar(y", "if foo(x) and bar(y):"),
        ("go(|)", "a)\ngo(b)", "go(a)\ngo(b)"),
    ],
)
def test_a_bracket_that_the_text_goes_on_after_is_replaced(marked: str, said: str, expected: str) -> None:
    """Row 9: what cannot be cut off is covered by the range, and the text has the replaced characters in it."""
    check(marked, said, expected)


def test_nothing_begins_with_what_follows() -> None:
    """Row 10 (fittencode.nvim#127): the text after the cursor was put in front of the suggestion."""
    check("(|)", ")", None)
    check("(|)", "a)", "(a)")


@pytest.mark.parametrize(
    ("marked", "said", "expected"),
    [
        (
            "def f():\n    |\n    return total\n",
            "total += x\n    return total",
            "def f():\n    total += x\n    return total\n",
        ),
        ("def f():\n    |\n    return total\n", "return total", None),
        ("def f():\n    re|\n    return total\n", "turn total", None),
        ("a = 1\n|\n\nb = 2\nc = 3\n", "x = 0\n\nb = 2\nc = 3", "a = 1\nx = 0\n\nb = 2\nc = 3\n"),
        ("x = | + 1\n", "y + 1\nz = 3", "x = y + 1\n"),
        ("x = |\ny = 2\n", "1\ny = 2\nz = 3", "x = 1\ny = 2\n"),
        ("x = |\n\ny = 2\n", "1\n\ny = 2\nz = 3", "x = 1\n\ny = 2\n"),
        (
            "if a:\n    |\n    y = 2\n",
            "if b:\n        y = 2\n    z",
            "if a:\n    if b:\n        y = 2\n    z\n    y = 2\n",
        ),
        ("x = |return total", "a; return total", "x = a; return total"),
        ("if (x) {|\n}\n", "\n  y()\n}", "if (x) {\n  y()\n}\n"),
        ("function f() {\n  if (x) {|\n}\n", "\n    y()\n  }", "function f() {\n  if (x) {\n    y()\n  }\n}\n"),
    ],
)
def test_what_is_there_already_is_not_offered_again(marked: str, said: str, expected: str | None) -> None:
    """Row 11 (continue#4721): suggestions repeated the lines below, or the rest of the line."""
    check(marked, said, expected)


@pytest.mark.parametrize(
    ("marked", "said", "expected"),
    [
        ("x = foo(|)\n", "\n    a,\n    b,\n)", "x = foo(\n    a,\n    b,\n)\n"),
        ("x = foo(|)\n", "\n    a,\n    b,\n", "x = foo(\n    a,\n    b,\n)\n"),
        ("    x = [|]\n", "\n        a,\n    ]", "    x = [\n        a,\n    ]\n"),
        ("if (x) {|}\n", "\n  y()\n}\n", "if (x) {\n  y()\n}\n"),
        ("x = foo(a|)\n", ",\n        b\n", "x = foo(a,\n        b)\n"),
    ],
)
def test_a_bracket_that_opens_at_the_end_of_a_line_closes_on_its_own(marked: str, said: str, expected: str) -> None:
    """The line end before the absorbed bracket was trimmed, and the bracket hung behind the last argument."""
    check(marked, said, expected)


def test_letters_that_a_word_ends_with_by_chance_are_kept() -> None:
    check("x = |e\n", "some", "x = somee\n")
    check("x = |ed_value\n", "compute", "x = computeed_value\n")


@pytest.mark.parametrize(
    ("marked", "said", "expected"),
    [
        ("    if x:\n        |", "        return 1", "    if x:\n        return 1"),
        ("    if x:\n    |", "    return 1", "    if x:\n        return 1"),
        ("\tif x:\n\t\t|", "return 1\n    return 2", "\tif x:\n\t\treturn 1\n\treturn 2"),
        ("\tif x:\n\t\t|", "\t\ta\n\t\tb", "\tif x:\n\t\ta\n\t\tb"),
        ("def f():\n  if x:\n    |", "a\n\tb", "def f():\n  if x:\n    a\n  b"),
        ("class A:\n|", "    x = 1", "class A:\n    x = 1"),
        ("x = 1\n    |", "    y = 2", "x = 1\n    y = 2"),
    ],
)
def test_indentation_is_given_once_and_in_the_files_unit(marked: str, said: str, expected: str) -> None:
    """Row 12 (llama.vscode#72): after Enter on an indented line the suggestion was indented twice."""
    check(marked, said, expected)


def test_the_cursor_stays_on_the_line() -> None:
    """Row 13 (minuet#88): text that ended with a line end left the cursor a line below."""
    check("foo(|, b)", "a\n", "foo(a, b)")
    check("x = |\n", "1\n\n", "x = 1\n")


@pytest.mark.parametrize("said", ["", " ", "\n", "\t\n ", "\r\n"])
def test_nothing_blank_is_offered(said: str) -> None:
    """Row 28 (tabby#4115): empty items flashed."""
    check("x = |\n", said, None)
    check("x = |)\n", said, None)


def test_a_line_said_over_and_over_is_said_once() -> None:
    check("|", "a = 1\nb = 2\nb = 2\nb = 2\nb = 2", "a = 1\nb = 2")
    check("|", "a\na\nb", "a\na\nb")


TEXTS = st.text(st.sampled_from("ab( )[]{}\"'\n\t:,;\r#é😀"), max_size=20)


@given(TEXTS, TEXTS, TEXTS)
def test_whatever_comes_the_middle_is_whole_and_stays_on_its_line(prefix: str, suffix: str, said: str) -> None:
    """Row 15 (helix#9624): a range that began after its end crashed the editor."""
    middle = tidy(said, Site(prefix, suffix))
    if middle is not None:
        rest_of_line = suffix.split("\n")[0]
        assert middle.text.strip()
        assert "\r" not in middle.text
        assert 0 <= middle.num_absorbed <= len(rest_of_line)
        replaced = iter(middle.text)
        assert all(character in replaced for character in rest_of_line[: middle.num_absorbed])
