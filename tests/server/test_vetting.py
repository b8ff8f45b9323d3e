"""What syntax makes of a middle, told as whole texts: with a cursor `¦`, what the model said, the text after."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_server.documents import Document
from midfill_server.positions import Encoding
from midfill_server.postprocess import Site, tidy
from midfill_server.postprocess.vetting import vetted
from midfill_server.snapshot import Snapshot, take


def snapshot_at(marked: str, language: str) -> Snapshot:
    prefix, suffix = marked.split("¦")
    line = prefix.rpartition("\n")[2]
    return Snapshot(
        uri="file:///a",
        version=1,
        language=language,
        row=prefix.count("\n"),
        column=len(line),
        line=line + suffix.partition("\n")[0],
        prefix=prefix,
        suffix=suffix,
        is_suffix_cut=False,
    )


def result(language: str, marked: str, said: str) -> str | None:
    snapshot = snapshot_at(marked, language)
    middle = tidy(said, Site(snapshot.prefix, snapshot.suffix))
    if middle is None:
        return None
    offered = vetted([middle], snapshot, is_invoked=False)
    return None if not offered else snapshot.prefix + offered[0].text + snapshot.suffix[offered[0].num_absorbed :]


@pytest.mark.parametrize(
    ("language", "marked", "said", "expected"),
    [
        ("html", "<ul>\n  <li>a¦\n</ul>\n", "b</lo>", "<ul>\n  <li>ab</li>\n</ul>\n"),
        ("html", "<ul>\n  <li>a</¦\n</ul>\n", "div>", "<ul>\n  <li>a</li>\n</ul>\n"),
        ("html", "<div>\n  <p>a</p¦\n</div>\n", ">", "<div>\n  <p>a</p>\n</div>\n"),
        ("html", "<p>a<br>b¦\n", "</p>", "<p>a<br>b</p>\n"),
        ("html", "<p>a</p>¦\n", "b</div>", "<p>a</p>b\n"),
        ("html", "<ul>\n  <li>a\n¦\n", "</ul>", "<ul>\n  <li>a\n</ul>\n"),
        ("html", "<!-- <b> --><i>a¦\n", "</i>", "<!-- <b> --><i>a</i>\n"),
        ("xml", "<a><b>c¦</a>\n", "</d>", "<a><b>c</b></a>\n"),
        ("xml", "<a><link>c¦</a>\n", "</link>", "<a><link>c</link></a>\n"),
        ("xml", "<a><b x='1'/>¦\n", "</c>", "<a><b x='1'/></a>\n"),
        ("typescriptreact", "const x = <a><b>c¦</a>;\n", "</d>", "const x = <a><b>c</b></a>;\n"),
        ("typescriptreact", "let s: Array<string> = f();\nlet y = ¦;\n", "<p>x</p>", None),
    ],
)
def test_closing_tags_close_what_is_open(language: str, marked: str, said: str, expected: str | None) -> None:
    if expected is None:
        expected = marked.replace("¦", said)
    assert result(language, marked, said) == expected


@pytest.mark.parametrize(
    ("marked", "said", "expected"),
    [
        ('{\n  "a": ¦\n  "b": 2\n}\n', "1", '{\n  "a": 1,\n  "b": 2\n}\n'),
        ('{\n  "a": 1,\n  "b": ¦\n}\n', "2,", '{\n  "a": 1,\n  "b": 2\n}\n'),
        ('{\n  "a": 1,\n  ¦\n  "c": 3\n}\n', '"b": [2]', '{\n  "a": 1,\n  "b": [2],\n  "c": 3\n}\n'),
        ('{\n  "a": [1, ¦]\n}\n', "2,", '{\n  "a": [1, 2]\n}\n'),
    ],
)
def test_json_gets_its_comma(marked: str, said: str, expected: str) -> None:
    json.loads(expected)
    assert result("json", marked, said) == expected


@pytest.mark.parametrize(
    ("language", "marked", "said"),
    [
        ("json", '{\n  "a": ¦\n}\n', "1 2"),
        ("json", '{\n  "a": ¦,\n  "b": 1\n}\n', '"c": 1'),
        ("yaml", "a: ¦\nb: 1\n", "c: d: e"),
        ("yaml", "a:\n  b: 1\n¦\nc: 2\n", " d: 3"),
    ],
)
def test_data_that_does_not_parse_is_not_shown(language: str, marked: str, said: str) -> None:
    assert result(language, marked, said) is None


def test_data_that_is_being_written_is_not_judged_by_what_is_missing() -> None:
    assert result("json", '{\n  "a": ¦', "[1, 2],") == '{\n  "a": [1, 2],'
    assert result("yaml", "a: ¦\nb: [\n", "1") == "a: 1\nb: [\n"


VALUES = st.recursive(st.none() | st.integers() | st.text('aé"\\ ', max_size=4), lambda v: st.lists(v, max_size=3))


@given(st.dictionaries(st.text("abc", min_size=1), VALUES, min_size=1), st.data())
def test_a_value_of_json_comes_out_as_it_was(value: dict[str, object], data: st.DataObject) -> None:
    """Whichever value is missing, and whether or not the model says a comma behind it."""
    keys = list(value)
    key = data.draw(st.sampled_from(keys))
    rows = [f"  {json.dumps(each)}: " + ("¦" if each == key else json.dumps(value[each])) for each in keys]
    marked = "{\n" + ",\n".join(rows).replace("¦,", "¦") + "\n}\n"
    said = json.dumps(value[key]) + data.draw(st.sampled_from(["", ","]))
    got = result("json", marked, said)
    assert got is not None
    assert json.loads(got) == value


def test_a_document_and_its_snapshot_agree() -> None:
    """The snapshots of these tests are as the server takes them."""
    text = '{\n  "a": ¦\n}\n'
    document = Document(uri="file:///a", language="json", version=1, text=text.replace("¦", ""))
    assert take(document, 1, 7, Encoding.UTF32) == snapshot_at(text, "json")
