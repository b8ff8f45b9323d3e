"""The whole command with a scripted engine: perfect, empty and echoing answers, and what is asked wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from midfill_engine.api import EngineError, EngineOptions, FillRequest, Mode, ResourceError
from midfill_engine.errors import RequestError
from midfill_engine.evaluate.cases import read_cases
from midfill_engine.evaluate.command import run
from midfill_engine.evaluate.grading import Answer as Graded
from midfill_engine.evaluate.grading import Grader, NoTests
from midfill_engine.evaluate.plot import check_plot
from midfill_engine.evaluate.summary import summarise
from support.scripted import Answer, AnswerTo, ScriptedEngine

KEYS = {
    "exact_match",
    "edit_similarity",
    "parse_rate",
    "suffix_echo_rate",
    "empty_rate",
    "pass_at_1",
    "latency_ms_p50",
    "latency_ms_p95",
    "steps_mean",
    "by_kind",
    "by_chars",
    "intervals",
    "n",
    "preset",
}


def record(number: int, kind: str, prefix: str, middle: str, suffix: str) -> dict[str, object]:
    return {
        "id": f"{kind}/{number}",
        "kind": kind,
        "language": "python",
        "prefix": prefix,
        "middle": middle,
        "suffix": suffix,
        "group": f"g{number}",
        "tests": "square",
    }


def records() -> list[dict[str, object]]:
    """Cuts of one program, four kinds of hole."""
    made = []
    for number in range(3):
        head, tail = f"# {number}\ndef f(x):\n", "\n    return squared_value\n"
        made += [
            record(number, "rest-of-line", f"{head}    squared_value = ", "x * x", tail),
            record(number, "single-line", head, "    squared_value = x * x\n", tail[1:]),
            record(number, "three-lines", f"{head}    ", "x = int(x)\n    x = x\n    squared_value = x * x", tail),
            record(number, "random-span", f"{head}    squared_val", "ue = x *", " x\n    return squared_value\n"),
        ]
    return made


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records()), "utf-8")
    return path


@pytest.fixture
def tests_file(tmp_path: Path) -> Path:
    path = tmp_path / "tests.jsonl"
    path.write_text(json.dumps({"key": "square", "runner": "py", "code": "assert f(3) == 9\n"}), "utf-8")
    return path


Evaluate = Callable[..., dict[str, Any]]


@pytest.fixture
def evaluate(cases: Path, capsys: pytest.CaptureFixture[str]) -> Evaluate:
    """Run the command over the cases; what its last line on stdout says."""

    def evaluate(engine: ScriptedEngine, *argv: object) -> dict[str, Any]:
        assert run([str(cases), *map(str, argv)], open_engine=lambda _options: engine) == 0
        assert engine.is_closed
        told = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert isinstance(told, dict)
        return told

    return evaluate


def answering(cases: Path, text: Callable[[FillRequest, str], str]) -> ScriptedEngine:
    """An engine that knows the true middles, as they lie in the hole that was asked."""
    truths = {case.id: case.middle for case in read_cases(cases)}

    def answer(request: FillRequest) -> Answer:
        truth = truths.get(request.request_id, "")
        return Answer(text=text(request, truth.removesuffix("\n")), num_steps=4)

    made: AnswerTo = answer
    return ScriptedEngine(default=made)


def test_perfect_answers(cases: Path, tests_file: Path, evaluate: Evaluate) -> None:
    told = evaluate(answering(cases, lambda _, truth: truth), "--tests", tests_file)
    assert set(told) >= KEYS
    for one in (told, *told["by_kind"].values(), *told["by_chars"].values(), *told["by_tokens"].values()):
        for name in ("exact_match", "exact_match_blanks", "exact_match_raw", "edit_similarity", "parse_rate"):
            assert one[name] == 1.0, name
        assert (one["suffix_echo_rate"], one["empty_rate"]) == (0.0, 0.0)
        assert (one["pass_at_1"], one["gold_pass_at_1"], one["steps_mean"]) == (1.0, 1.0, 4.0)
    assert set(told["by_kind"]) == {"rest-of-line", "single-line", "three-lines", "random-span"}
    assert (told["n"], told["groups"], told["preset"]) == (12, 3, "pocket")
    assert told["intervals"]["exact_match"] == {"micro": [1.0, 1.0], "macro": [1.0, 1.0]}
    assert 0 < told["latency_ms_p50"] <= told["latency_ms_p95"]


def test_empty_answers(cases: Path, tests_file: Path, evaluate: Evaluate) -> None:
    told = evaluate(answering(cases, lambda *_: ""), "--tests", tests_file)
    assert told["empty_rate"] == 1.0
    assert [told[name] for name in ("exact_match", "edit_similarity", "suffix_echo_rate", "pass_at_1")] == [0.0] * 4
    assert told["by_kind"]["single-line"]["parse_rate"] == 1.0  # the line left out
    assert told["by_kind"]["rest-of-line"]["parse_rate"] == 0.0  # an assignment of nothing
    assert told["gold_pass_at_1"] == 1.0


def test_echoing_answers(cases: Path, evaluate: Evaluate) -> None:
    """Blocks are cut where they begin to repeat the suffix: right after the cut, echoes none the less."""
    told = evaluate(answering(cases, lambda request, truth: truth + request.suffix), "--mode", "block")
    for kind in ("three-lines", "random-span"):
        assert told["by_kind"][kind]["exact_match"] == 1.0
        assert told["by_kind"][kind]["exact_match_raw"] == 0.0
    assert told["suffix_echo_rate"] == 1.0
    assert told["edit_similarity_raw"] < told["edit_similarity"] == 1.0


def test_a_third_right(cases: Path, evaluate: Evaluate) -> None:
    """One of three groups is answered: every mean is a third, and no interval is a point."""
    told = evaluate(answering(cases, lambda request, truth: truth if "# 0" in request.prefix else ""))
    assert told["exact_match"] == pytest.approx(1 / 3, abs=1e-4)
    assert told["macro"]["exact_match"] == pytest.approx(1 / 3, abs=1e-4)
    low, high = told["intervals"]["exact_match"]["micro"]
    assert low == 0.0
    assert high >= 2 / 3 - 1e-4


def test_what_is_asked(cases: Path, evaluate: Evaluate) -> None:
    engine = ScriptedEngine()
    evaluate(engine, "--steps", 5, "--seed", 11, "--kind", "single-line", "--kind", "three-lines", "--n", 4)
    asked = engine.requests[1:]  # the first is the warm-up
    assert sorted(request.mode for request in asked) == [Mode.BLOCK, Mode.BLOCK, Mode.LINE, Mode.LINE]
    assert {(request.limits.max_steps, request.seed) for request in asked} == {(5, 11)}


def test_options_reach_the_engine(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[EngineOptions] = []

    def open_engine(options: EngineOptions) -> ScriptedEngine:
        seen.append(options)
        return ScriptedEngine()

    run([str(cases), "--threads", "3", "--n", "1", "--json"], open_engine=open_engine)
    assert [(one.preset, one.num_threads, one.device) for one in seen] == [("pocket", 3, "cpu")]
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_the_report_is_read_by_people(cases: Path, tests_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = answering(cases, lambda _, truth: truth)
    run([str(cases), "--tests", str(tests_file), "--n", "8"], open_engine=lambda _options: engine)
    out, err = capsys.readouterr()
    for word in ("exact_match", "by kind", "rest-of-line", "characters of the true middle", "tokens", "ceiling"):
        assert word in out
    assert all(len(line) <= 80 for line in out.splitlines()[:-1])
    assert "8/8" in err


def test_every_fill_is_written(cases: Path, tmp_path: Path, evaluate: Evaluate) -> None:
    evaluate(answering(cases, lambda _, truth: truth), "--out", tmp_path / "out.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert [line["id"] for line in lines] == [one["id"] for one in records()]
    assert all(line["fill"] == line["middle"] and line["exact_match"] and line["steps"] == 4 for line in lines)


def test_tests_that_nobody_runs_are_said(cases: Path, evaluate: Evaluate) -> None:
    told = evaluate(ScriptedEngine(), "--n", 4)
    assert told["pass_at_1"] is None
    assert any("--tests" in note for note in told["notes"])


def test_what_cannot_be_asked_is_left_out(cases: Path, evaluate: Evaluate) -> None:
    others = [{**record(9, kind, "a", "b", "c"), "instruction": "do"} for kind in ("next-edit", "rewrite-selection")]
    with cases.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in others)
    told = evaluate(ScriptedEngine())
    assert told["n"] == 12
    assert any(note.startswith("2 cases left out") for note in told["notes"])


def test_a_language_without_a_grammar_is_said(cases: Path) -> None:
    case = replace(read_cases(cases)[0], language="cobol")
    grader = Grader(NoTests(), find_parser=lambda language: None)
    assert grader.grade(case, Graded(text="x")).parses is None
    assert any("cobol" in note for note in grader.notes)


def test_parse_rate_counts_only_files_that_parse(cases: Path) -> None:
    """A case whose true file is broken already says nothing."""
    case = read_cases(cases)[0]
    grader = Grader(NoTests())
    graded = [
        grader.grade(case, Graded(text="x * x")),
        grader.grade(case, Graded(text="x * (")),
        grader.grade(replace(case, suffix=")"), Graded(text="x")),
    ]
    rate = summarise(graded).overall.rates["parse_rate"]
    assert rate is not None
    assert (rate.micro, rate.num_cases) == (0.5, 2)


WRONG = [
    (["--kind", "no-such"], "no case is of kind no-such; kinds are: random-span"),
    (["--preset", "no-such"], "no preset and no folder"),
    (["--n", "-1"], "must be 0 or more, got -1"),
    (["--steps", "0"], "must be 1 or more, got 0"),
    (["--mode", "word"], "--mode"),
    (["--without", "nothing"], "no part 'nothing'; parts are: "),
    (["--plot", "a.pdf"], "must end in .svg or .png, got a.pdf"),
    (["--plot", "no/such/a.svg"], "there is no folder"),
]


@pytest.mark.parametrize(("argv", "message"), WRONG)
def test_asked_wrongly(cases: Path, argv: list[str], message: str) -> None:
    with pytest.raises(EngineError) as caught:
        run([str(cases), *argv], open_engine=lambda _options: ScriptedEngine())
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_engine_that_fails_ends_it_and_is_let_go(cases: Path, tmp_path: Path) -> None:
    """What was graded until then is in the file."""
    answers = [Answer(), Answer(), Answer(error=ResourceError("no memory"))]
    engine = ScriptedEngine(answers)
    with pytest.raises(ResourceError):
        run([str(cases), "--out", str(tmp_path / "out.jsonl")], open_engine=lambda _options: engine)
    assert engine.is_closed
    assert len((tmp_path / "out.jsonl").read_text("utf-8").splitlines()) == 1


def test_a_plot_or_how_to_get_one(cases: Path, tmp_path: Path, evaluate: Evaluate) -> None:
    path = tmp_path / "plot.svg"
    if find_spec("matplotlib") is None:
        with pytest.raises(RequestError, match=r"^a plot needs matplotlib: pip install 'midfill\[eval\]'$"):
            check_plot(path)
        return
    evaluate(answering(cases, lambda _, truth: truth), "--plot", path)
    assert "<svg" in path.read_text("utf-8")
