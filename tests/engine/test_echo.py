"""What is repeated and what only looks so."""

from __future__ import annotations

import pytest

from midfill_engine.brackets import num_faults
from midfill_engine.echo import trim_above_echo, trim_before_echo, trim_below_echo, trim_line_echo


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("", 0),
        ("foo(bar[0])", 0),
        ("foo(", 0),
        (")", 1),
        ("foo)]", 2),
        ("(]", 1),
        ("'(' + x)", 1),
        ('"\\")" + f(x)', 0),
        ("'it\\'s )'", 0),
        ("x = 'a", 1),
        ("# don't (", 0),
        ("x = 1  # see )", 0),
        ("// see )", 0),
        ("a // b)", 1),
        ("x = '#)'", 0),
        ("f(\n  a,\n)", 0),
        ("`a ) b`", 0),
    ],
)
def test_brackets_and_quotes_without_a_partner(code: str, expected: int) -> None:
    assert num_faults(code) == expected


def test_a_long_line_of_quotes_takes_no_time_to_speak_of() -> None:
    """Two ways to match a backslash cost time exponential in their number."""
    assert num_faults("'" + "\\" * 3999) == 1
    assert num_faults("\"'" * 2000) >= 0


LINE_CASES = [
    pytest.param(", bar)", "print(foo", ")", ", bar", id="row 9: closing bracket doubled"),
    pytest.param("x))", "foo(bar(", "))", "x", id="row 9: two of them"),
    pytest.param("x)", "foo(bar(", "))", "x", id="row 9: one of two"),
    pytest.param(")", "(", ")", "", id="row 10: what is there put before it"),
    pytest.param(") + 1", "(", ")", "", id="row 10: and more behind it"),
    pytest.param(", bar) + 2 * g(x", "print(foo", ")", ", bar) + 2 * g(x", id="closes it, and opens another"),
    pytest.param(")", "foo(bar(", ")", ")", id="a bracket that is missing"),
    pytest.param("x)", "foo(bar(", ")", "x)", id="a bracket that is missing, with more"),
    pytest.param("g(x)", "f(", ")", "g(x)", id="brackets of its own"),
    pytest.param("[i]", "a[f(", ")]", "[i]", id="brackets of its own, nested in others"),
    pytest.param('lo")', 'print("hel', '")', "lo", id="quote and bracket"),
    pytest.param('lo"', 'x = "hel', '"', "lo", id="quote"),
    pytest.param('"b"', "x = {'a': ", "}", '"b"', id="a string of its own"),
    pytest.param("')'", "f(", ")", "')'", id="a bracket in a string"),
    pytest.param('lo" + "x', 'print("hel', '")', 'lo" + "x', id="a string that ends and another that begins"),
    pytest.param("x  # it's", "f(", "", "x  # it's", id="an apostrophe, nothing right of it"),
    pytest.param("y)", "don't(x, ", ")", "y", id="an apostrophe to the left"),
    pytest.param(":", "else", ":", "", id="a colon"),
    pytest.param("1", "x = ", "1", "", id="row 28: the rest of the line, all of it"),
    pytest.param(" bar", "foo +", " bar", "", id="the rest of the line with a blank before"),
    pytest.param("self.x + self", "return ", "self.y", "self.x + ", id="a word that follows"),
    pytest.param("a, 0", "[", "0, 1]", "a, 0", id="a short overlap is chance"),
    pytest.param("c, b)", "foo(a,", " b)", "c,", id="a blank is part of the overlap"),
    pytest.param("x", "", "", "x", id="nothing around"),
    pytest.param("", "f(", ")", "", id="nothing"),
]


@pytest.mark.parametrize(("text", "before", "after", "expected"), LINE_CASES)
def test_the_rest_of_the_line(text: str, before: str, after: str, expected: str) -> None:
    """A closing bracket came twice, or the text right of the cursor came again (rows 9 and 10)."""
    assert trim_line_echo(text, before, after, []) == expected


@pytest.mark.parametrize(
    ("text", "above", "before", "after", "expected"),
    [
        (", b)", ["foo("], "    a", ")", ", b"),
        (", b)", ["foo(bar("], "    a", ")", ", b)"),
        ("x]", ["a = [", "    1,"], "    ", "]", "x"),
        ("x)", ["}"] * 100, "f(", ")", "x"),
    ],
)
def test_brackets_that_were_opened_on_lines_above(
    text: str, above: list[str], before: str, after: str, expected: str
) -> None:
    """Only the hole's own line was looked at, where the closing bracket of a call over lines is one too many anyway."""
    assert trim_line_echo(text, before, after, above) == expected


BELOW_CASES = [
    pytest.param("total += x\n    return total", "        ", "", ["    return total"], "total += x", id="row 11"),
    pytest.param("total += x\nreturn total", "    ", "", ["return total"], "total += x", id="row 11, no indentation"),
    pytest.param("a()\n    return total\n\ndef g():", "        ", "", ["    return total"], "a()", id="row 11, and on"),
    pytest.param("if x:\n            return total", "        ", "", ["    return total"], None, id="an early return"),
    pytest.param("return total", "    ", "", ["    return total"], "", id="row 28: only the next line"),
    pytest.param("a()\n\n    b()\n    c()", "    ", "", ["", "    b()", "    c()"], "a()\n", id="several lines"),
    pytest.param("x\n    }", "        ", "", ["}"], None, id="an inner bracket above the outer one"),
    pytest.param("x\n    }", "        ", "", ["    }", "}"], "x", id="the same bracket"),
    pytest.param("x\n    }\n    y", "        ", "", ["    }"], None, id="a bracket, but other lines follow"),
    pytest.param("x\nelse:\n    y", "    ", "", ["else:", "    z"], "x", id="a second else"),
    pytest.param("if b:\n        x\n    else:\n        y", "    ", "", ["else:"], None, id="an else of its own"),
    pytest.param("    y = 1\n    return x\n", "", "    return x", [], "    y = 1\n", id="hole before a whole line"),
    pytest.param("y = 1\n    return x\n", "    ", "return x", [], "y = 1\n    ", id="hole behind the indentation"),
    pytest.param("y = 1\n", "    ", "return x", [], None, id="nothing repeated"),
    pytest.param("a", "x = ", "", ["a"], None, id="the middle of a line is no line"),
    pytest.param("a\n\n\n", "", "", [], None, id="nothing below"),
]


@pytest.mark.parametrize(("text", "before", "after", "below", "expected"), BELOW_CASES)
def test_lines_below(text: str, before: str, after: str, below: list[str], expected: str | None) -> None:
    """The lines below the cursor were suggested again (row 11). `None`: nothing is cut."""
    assert trim_below_echo(text, before, after, below) == (text if expected is None else expected)


@pytest.mark.parametrize(
    ("text", "before", "above", "expected"),
    [
        pytest.param("for x in xs:\n    a()", "", ["n = 0", "for x in xs:"], "    a()", id="the line above"),
        pytest.param("alpha()\n    beta()\n    c()", "    ", ["    alpha()", "    beta()"], "c()", id="two lines"),
        pytest.param("alpha()", "    ", ["    alpha()"], "", id="nothing else"),
        pytest.param("row()\nrow()", "", ["row()", "row()"], "row()\nrow()", id="lines that repeat each other"),
        pytest.param("}\n}", "", ["}"], "}\n}", id="brackets"),
        pytest.param("alpha()\nbeta()", "    ", ["    alpha()"], "alpha()\nbeta()", id="goes on further left"),
        pytest.param("alpha()", "x = ", ["alpha()"], "alpha()", id="in the middle of a line"),
        pytest.param("alpha()", "", [], "alpha()", id="the file's first line"),
    ],
)
def test_lines_above(text: str, before: str, above: list[str], expected: str) -> None:
    assert trim_above_echo(text, before, above) == expected


@pytest.mark.parametrize(
    ("text", "before", "after", "expected"),
    [
        pytest.param("return x", "    return ", "", "x", id="the statement so far"),
        pytest.param("return x", "    retu", "", "rn x", id="the word so far"),
        pytest.param("value + 1", "x = value", "", " + 1", id="the last word"),
        pytest.param("foo(1))", "foo(", "", "foo(1))", id="a call in a call"),
        pytest.param("str(y)", "x = str(", ")", "str(y)", id="a call in a call that is closed"),
        pytest.param("None, None]", "[None, None, ", "", "None, None]", id="a line that repeats itself"),
        pytest.param("able", "x = table", "", "able", id="not from the start of a word"),
        pytest.param("a", "a", "", "a", id="too short to tell"),
    ],
)
def test_the_line_so_far(text: str, before: str, after: str, expected: str) -> None:
    assert trim_before_echo(text, before, after) == expected
