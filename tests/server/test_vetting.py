"""What syntax makes of a middle, told as whole texts: with a cursor `¦`, what the model said, the text after."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midfill_engine.api import Candidate
from midfill_server.documents import Document
from midfill_server.positions import Encoding
from midfill_server.postprocess import Middle, Site, tidy
from midfill_server.postprocess.vetting import Vetting, vetting_of
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
    vetting = vetting_of(snapshot)
    offered = vetting.first_good(vetting.all_repaired([middle]))
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
        ("html", "<p>¦</p>\n", "<b>a", "<p><b>a</b></p>\n"),
        ("html", "<div>\n  ¦\n</div>\n", "<b>\n    a", "<div>\n  <b>\n    a\n  </b>\n</div>\n"),
        ("xml", "<a>¦</a>\n", "<b><c/>d", "<a><b><c/>d</b></a>\n"),
        ("typescriptreact", "const x = <a>¦</a>;\n", "<b>c", "const x = <a><b>c</b></a>;\n"),
        ("html", "<p ¦>a</p>\n", 'id="b', '<p id="b">a</p>\n'),
        ("html", "<p>¦</p>\n", '<a href="b', '<p><a href="b"></a></p>\n'),
        ("html", "<p><i ¦</i></p>\n", "id='b'", "<p><i id='b'></i></p>\n"),
        ("html", '<p id="a" ¦>b</p>\n', 'id="c" class="d"', '<p id="a" class="d">b</p>\n'),
        ("html", '<p ¦ id="a">b</p>\n', 'class="d" id="c"', '<p class="d" id="a">b</p>\n'),
        ("xml", "<p a='1' ¦/>\n", "b='2' b='3'", "<p a='1' b='2'/>\n"),
        ("html", '<p id="a"¦\n', ' id="c">b</p>', '<p id="a">b</p>\n'),
        ("typescriptreact", "const x = <a b={1} ¦/>;\n", "b={2} c={3}", "const x = <a b={1} c={3}/>;\n"),
        ("html", "<ul>¦</ul>\n", "<li>a", None),
        ("html", "<div>¦</div></div>\n", "<div>a", None),
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
    ("language", "marked", "said", "expected"),
    [
        ("yaml", "a:\n  b: 1\n¦\nc: 2\n", " d: 3", "a:\n  b: 1\n  d: 3\nc: 2\n"),
        ("yaml", "a:\n  b:\n    - 1\n ¦\nc: 2\n", "- 2\n - 3", "a:\n  b:\n    - 1\n    - 2\n    - 3\nc: 2\n"),
        ("yaml", "a: {b: ¦ c: 2}\n", "1", "a: {b: 1, c: 2}\n"),
        ("toml", "a = [1, ¦ 3]\n", "2", "a = [1, 2, 3]\n"),
        ("toml", "a = ¦\nb = 2\n", "1,", "a = 1\nb = 2\n"),
        ("toml", "a = {b = 1, ¦}\n", "c = 2,", "a = {b = 1, c = 2}\n"),
    ],
)
def test_yaml_and_toml_get_their_commas_and_indents(language: str, marked: str, said: str, expected: str) -> None:
    assert result(language, marked, said) == expected


@pytest.mark.parametrize(
    ("language", "marked", "said"),
    [
        ("json", '{\n  "a": ¦\n}\n', "1 2"),
        ("json", '{\n  "a": ¦,\n  "b": 1\n}\n', '"c": 1'),
        ("yaml", "a: ¦\nb: 1\n", "c: d: e"),
        ("toml", "a = ¦\n", "1 b = 2"),
        ("toml", "a = 1\n¦\n", "a = 2"),
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


WHOLE = {
    "html": (
        "<!DOCTYPE html>\n<html>\n<head><title>é</title></head>\n<body>\n<ul class='a' id=\"b\">\n"
        "  <li>one\n  <li>two <br> three\n</ul>\n<p>a <b>b <i>c</i></b> d\n"
        "<p>e <!-- <b> --> <a href='x?y=1'>f</a> 1 &lt; 2\n</body>\n</html>\n"
    ),
    "xml": "<a b='1' c=\"2\">\n  <d e='>'/>\n  <f>é<g h='3'>i</g></f>\n</a>\n",
    "typescriptreact": (
        "function F<T>(p: { x: Array<T> }) {\n  return (\n    <A b={p.x} c='d'>\n      {p.x.map((e) => "
        "<E key={e} {...e} />)}\n      <B>text</B>\n    </A>\n  );\n}\n"
    ),
    "json": '{\n  "a": [1, 2, {"b": null}],\n  "c": "d"\n}\n',
    "yaml": "a:\n  - b: 1\n    c: [2, 3]\n  - d\ne: {f: 1, g: 2}\nh: |\n  i\n   j\nk: 1\n",
    "toml": '[a]\nb = "c"\nd = [1, 2]\ne = {f = 1, g = 2}\n\n[h]\ni = 1\n',
}


@pytest.mark.parametrize("language", WHOLE)
@given(data=st.data())
def test_a_true_middle_is_never_changed_nor_called_bad(language: str, data: st.DataObject) -> None:
    """Of a text that is whole, whatever piece of it is missing."""
    text = WHOLE[language]
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, min(start + 60, len(text))))
    middle = Middle(text[start:end])
    vetting = Vetting(Site(text[:start], text[end:]), language)
    assert vetting.repaired(middle) == (middle if middle.text.strip() else None)
    assert not vetting.is_bad(middle)


def test_a_document_and_its_snapshot_agree() -> None:
    """The snapshots of these tests are as the server takes them."""
    text = '{\n  "a": ¦\n}\n'
    document = Document(uri="file:///a", language="json", version=1, text=text.replace("¦", ""))
    assert take(document, 1, 7, Encoding.UTF32) == snapshot_at(text, "json")


def test_what_the_engine_has_judged_in_the_same_place_is_not_judged_again() -> None:
    """Both judged every draft: most of what the server added to a request."""
    snapshot = snapshot_at("x = [1, ¦\n]\n", "python")
    broken = ") ("
    assert vetting_of(snapshot).is_bad(Middle(broken))
    assert vetting_of(snapshot, [Candidate(text=broken, confidence=0.5)]).is_bad(Middle(broken))
    known = vetting_of(snapshot, [Candidate(text=broken, confidence=0.5, is_vetted=True)])
    assert known.is_good(Middle(broken))
    assert known.is_bad(Middle(broken, 1))  # what the server has made of it is not what was judged


def test_who_asks_by_hand_has_what_breaks_the_text_last() -> None:
    vetting = vetting_of(snapshot_at("x = [1, ¦\n]\n", "python"))
    middles = [Middle(") ("), Middle("2"), Middle("3")]
    assert vetting.good_first(middles) == (Middle("2"), Middle("3"), Middle(") ("))
    assert vetting.first_good(middles) == (Middle("2"),)
