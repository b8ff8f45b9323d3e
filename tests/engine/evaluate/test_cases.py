"""Reading and choosing cases: what is wrong is said with its line and its field."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from midfill_engine.api import Mode
from midfill_engine.errors import RequestError
from midfill_engine.evaluate.asking import Asking, as_middle, cut
from midfill_engine.evaluate.cases import Case, read_cases
from midfill_engine.evaluate.programs import read_tests
from midfill_engine.evaluate.sample import sample

RECORD = {
    "id": "a",
    "kind": "one-line",
    "language": "python",
    "prefix": "x = ",
    "middle": "1",
    "suffix": "\n",
    "group": "g",
    "tests": None,
    "licence": "a field that nobody reads",
}


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def case(**fields: str) -> Case:
    whole = {"id": "a", "kind": "one-line", "language": "python", "prefix": "", "middle": "", "suffix": "", "group": ""}
    return Case(**{**whole, **fields})


def test_plain_and_gzipped_say_the_same(tmp_path: Path) -> None:
    plain = write(tmp_path / "a.jsonl", RECORD, {**RECORD, "id": "ü", "group": None})
    with gzip.open(tmp_path / "b.jsonl.gz", "wb") as file:
        file.write(plain.read_bytes())
    cases = read_cases(plain)
    assert cases == read_cases(tmp_path / "b.jsonl.gz")
    assert [one.group for one in cases] == ["g", "ü"]  # a case without a group is a group of its own


BAD = [
    ([{**RECORD, "prefix": 3}], "line 1: field 'prefix' must be text, got int"),
    ([RECORD, {**RECORD, "id": "b", "middle": None}], "line 2: field 'middle' must be text, got NoneType"),
    ([{key: value for key, value in RECORD.items() if key != "suffix"}], "line 1: field 'suffix' is missing"),
    ([RECORD, RECORD], "line 2: id 'a' stands on line 1 already"),
    ([[RECORD]], "line 1 must hold an object, got list"),
    ([], "holds no cases"),
]


@pytest.mark.parametrize(("records", "message"), BAD)
def test_a_bad_case_names_line_and_field(tmp_path: Path, records: list[object], message: str) -> None:
    with pytest.raises(RequestError, match=r"^c\.jsonl") as caught:
        read_cases(write(tmp_path / "c.jsonl", *records))
    assert message in str(caught.value)


@pytest.mark.parametrize("raw", [b"{", b'{"id": \xff}', b"\x00"])
def test_no_json(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "c.jsonl").write_bytes(raw)
    with pytest.raises(RequestError, match="line"):
        read_cases(tmp_path / "c.jsonl")


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_broken_gzip_file(tmp_path: Path, is_cut: bool) -> None:
    whole = gzip.compress(json.dumps(RECORD).encode() * 100)
    (tmp_path / "c.jsonl.gz").write_bytes(whole[: len(whole) // 2] if is_cut else b"plain text")
    with pytest.raises(RequestError, match="cannot be read"):
        read_cases(tmp_path / "c.jsonl.gz")


BAD_TESTS = [
    ({"runner": "py", "code": ""}, "field 'key' is missing"),
    ({"key": "a", "runner": "perl"}, "field 'runner' must be one of"),
    ({"key": "a", "runner": "py", "code": 1}, "field 'code' must be text, got int"),
    ({"key": "a", "runner": "py-unittest", "module": "../x"}, "field 'module' must be a module's name"),
    ({"key": "a", "runner": "py", "files": {"../x": ""}}, "field 'files' must be texts by file names"),
]


@pytest.mark.parametrize(("record", "message"), BAD_TESTS)
def test_bad_tests_name_line_and_field(tmp_path: Path, record: dict[str, object], message: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_tests(write(tmp_path / "t.jsonl", record))
    assert str(caught.value).startswith("t.jsonl line 1: ")
    assert message in str(caught.value)


def many() -> list[Case]:
    kinds = ["a"] * 50 + ["b"] * 3 + ["c"] * 20
    return [case(id=str(number), kind=kind) for number, kind in enumerate(kinds)]


def test_a_sample_is_spread_over_kinds_and_the_same_again() -> None:
    chosen = sample(many(), 21, seed=5)
    assert Counter(one.kind for one in chosen) == {"a": 9, "b": 3, "c": 9}
    assert chosen == sample(many(), 21, seed=5)
    assert chosen != sample(many(), 21, seed=6)
    assert [int(one.id) for one in chosen] == sorted(int(one.id) for one in chosen)


def test_a_larger_sample_holds_the_smaller() -> None:
    assert set(sample(many(), 10, seed=1)) < set(sample(many(), 30, seed=1))


@pytest.mark.parametrize("number", [0, 73, 1000])
def test_all_cases(number: int) -> None:
    assert sample(many(), number, seed=1) == many()


ASKED = [
    # kind, prefix, middle, mode, what stands behind the hole before the suffix
    ("rest-of-line", "x = ", "1", Mode.LINE, ""),
    ("one-line", "", "x", Mode.LINE, ""),
    ("single-line", "a\n", "    x\n", Mode.LINE, "\n"),
    ("single-line", "", "x\n", Mode.LINE, "\n"),
    ("single-line", "a", "x\n", Mode.LINE, ""),
    ("multi-line", "a\n", "x\ny\n", Mode.BLOCK, "\n"),
    ("three-lines", "a\n", "x\ny\nz", Mode.BLOCK, ""),
    ("random-span", "a\n", "x\n", Mode.BLOCK, ""),  # that it ends there is for the model to find
]


@pytest.mark.parametrize(("kind", "prefix", "middle", "mode", "kept"), ASKED)
def test_what_is_asked(kind: str, prefix: str, middle: str, mode: Mode, kept: str) -> None:
    hole = case(kind=kind, prefix=prefix, middle=middle, suffix="S")
    request = Asking().request(hole)
    assert (request.prefix, request.suffix, request.mode) == (prefix, kept + "S", mode)
    assert as_middle(hole, middle.removesuffix(kept)) == middle
    assert as_middle(hole, "") == ""


def test_asked_otherwise() -> None:
    request = Asking(mode=Mode.AUTO, max_steps=3, seed=9).request(case())
    assert (request.mode, request.limits.max_steps, request.seed) == (Mode.AUTO, 3, 9)


CUTS = [
    ("one-line", "a\nb", "\n", "a"),
    ("three-lines", "a\nb", "\n", "a\nb"),
    ("three-lines", "a\n    return value", "\n    return value\n", "a"),
    ("multi-line", "a\n    return value", "    return value\n", "a"),
]


@pytest.mark.parametrize(("kind", "raw", "suffix", "expected"), CUTS)
def test_the_truncation_rule(kind: str, raw: str, suffix: str, expected: str) -> None:
    assert cut(case(kind=kind, middle="?\n", suffix=suffix), raw) == expected
