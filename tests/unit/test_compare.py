"""Comparing two reports, and the gate."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evals.__main__ import main
from evals.compare import Side, compare, compare_reports, gate, read_must_pass
from evals.saved import SavedReport, read_report
from service.errors import ConfigError

METRIC = "recall@3"


def figures(scores: Sequence[float | None], **metrics: float) -> dict[str, Any]:
    known = [s for s in scores if s is not None]
    return {
        "metrics": {METRIC: sum(known) / len(known) if known else None, **metrics},
        "calibrated_floor": 0.3,
        "floor_table": [],
        "latency_ms": {"p50": 10.0, "p95": 20.0},
        "n": {"answerable": len(scores), "no_answer": 0},
    }


def report(
    scores: Mapping[str, Sequence[float | None]], *, dataset: str = "d1", per_article: int = 1
) -> dict[str, Any]:
    """Questions q0, q1, … with these scores; so many of each article in a row."""
    return {
        "configs": {name: figures(row) for name, row in scores.items()},
        "per_question": {
            name: [
                {
                    "id": f"q{n}",
                    "question": f"Question {n}?",
                    "type": "concept",
                    "expected": [f"article-{n // per_article}"],
                    "scores": {METRIC: score},
                    "hits": [],
                }
                for n, score in enumerate(row)
            ]
            for name, row in scores.items()
        },
        "provenance": {"dataset_sha256": dataset, "split": "all"},
    }


def saved(*args: Any, **kwargs: Any) -> SavedReport:
    return SavedReport.model_validate(report(*args, **kwargs))


def side(scores: Sequence[float | None], **kwargs: Any) -> Side:
    return Side(report=saved({"default": scores}, **kwargs), config="default")


def test_the_difference_is_paired_by_question() -> None:
    result = compare(side([1, 0, 1, 0]), side([1, 1, 0.5, 0]), METRIC)
    assert (result.before, result.after, result.difference) == (0.5, 0.625, 0.125)
    assert (result.n, result.clusters) == (4, 4)


def test_questions_that_flipped_are_listed_apart_from_those_that_moved() -> None:
    result = compare(side([1, 0, 1, 0]), side([0, 1, 0.5, 0]), METRIC)
    assert [c.id for c in result.lost] == ["q0"]
    assert [c.id for c in result.won] == ["q1"]
    assert [c.id for c in result.moved] == ["q2"]


def test_a_question_that_one_side_did_not_score_is_left_out() -> None:
    result = compare(side([1, None, 0]), side([1, 1, None]), METRIC)
    assert (result.n, result.before, result.after) == (1, 1.0, 1.0)


def test_questions_on_one_article_are_one_cluster() -> None:
    alone = compare(side([0] * 8), side([1] * 8), METRIC)
    together = compare(side([0] * 8, per_article=4), side([1] * 8, per_article=4), METRIC)
    assert (alone.clusters, together.clusters) == (8, 2)
    assert alone.p == 2 / 2**8
    assert together.p == 0.5


def test_the_same_run_twice_has_no_difference_and_passes() -> None:
    result = compare(side([1, 0, 1]), side([1, 0, 1]), METRIC)
    assert (result.difference, result.p, result.largest_drop) == (0, 1.0, 0)
    assert gate([result], margin=0.0).is_passed


def test_a_drop_that_cannot_be_excluded_fails_although_p_is_large() -> None:
    result = compare(side([1] * 10), side([1] * 9 + [0]), METRIC)
    assert result.p == 1.0
    assert not gate([result], margin=0.02).is_passed
    assert gate([result], margin=0.5).is_passed


def test_a_gain_passes() -> None:
    result = compare(side([0] * 10), side([1] * 5 + [0] * 5), METRIC)
    assert gate([result], margin=0.0).is_passed


def test_a_pinned_question_fails_even_where_the_mean_gains() -> None:
    result = compare(side([1] + [0] * 20), side([0] + [1] * 20), METRIC)
    assert gate([result], margin=1.0).is_passed
    failed = gate([result], margin=1.0, must_pass={"q0", "q1"})
    assert dict(failed.pinned) == {f"default {METRIC}": ("q0",)}


def test_more_false_positives_are_a_drop() -> None:
    def leaking(cosines: Sequence[float]) -> Side:
        made = report({"default": [None] * len(cosines)})
        for row, cosine in zip(made["per_question"]["default"], cosines, strict=True):
            row.update(type="no-answer", expected=[], top_cosine=cosine)
        return Side(report=SavedReport.model_validate(made), config="default")

    result = compare(leaking([0.2, 0.2, 0.4]), leaking([0.2, 0.5, 0.2]), "no_answer_fp")
    assert (result.before, result.after) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert ([c.id for c in result.lost], [c.id for c in result.won]) == (["q1"], ["q2"])
    worse = compare(leaking([0.2, 0.2, 0.2]), leaking([0.5, 0.5, 0.5]), "no_answer_fp")
    assert worse.largest_drop == 1.0


def test_several_comparisons_are_corrected_for_looking_often() -> None:
    before = saved({"a": [0] * 8, "b": [0] * 8, "c": [0] * 8})
    after = saved({"a": [1] * 8, "b": [1] * 2 + [0] * 6, "c": [0] * 8})
    results = compare_reports(before, after, configs=None, metrics=[METRIC])
    assert [r.config for r in results] == ["a", "b", "c"]
    assert results[0].adjusted_p == pytest.approx(3 * 2 / 2**8)
    assert all(r.adjusted_p >= r.p for r in results)


def test_without_a_named_measure_those_with_labels_are_compared() -> None:
    one = saved({"default": [1, 0]})
    compared = compare_reports(one, one, configs=None, metrics=None)
    assert [c.metric for c in compared] == [METRIC]


def test_two_configurations_of_one_report_can_be_compared() -> None:
    both = saved({"a": [0, 1], "b": [1, 1]})
    [result] = compare_reports(both, both, configs="a,b", metrics=[METRIC])
    assert (result.config, result.difference) == ("a → b", 0.5)


@pytest.mark.parametrize(
    ("configs", "metric", "message"),
    [
        ("nope", METRIC, "no configuration 'nope'; it has: default"),
        (None, "recall@99", "no question has 'recall@99'; known: no_answer_fp, recall@3"),
    ],
)
def test_what_does_not_exist_is_named_with_what_does(
    configs: str | None, metric: str, message: str
) -> None:
    one = saved({"default": [1, 0]})
    with pytest.raises(ConfigError, match=message):
        compare_reports(one, one, configs=configs, metrics=[metric])


def test_reports_on_other_questions_are_not_compared() -> None:
    with pytest.raises(ConfigError, match=r"not on the same questions and articles: d1.*d2"):
        compare_reports(
            saved({"default": [1]}),
            saved({"default": [1]}, dataset="d2"),
            configs=None,
            metrics=[METRIC],
        )


def test_a_must_pass_file_has_ids_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "must-pass.txt"
    path.write_text("# pinned\nq1  # the one that broke in May\n\nq2\n", "utf-8")
    assert read_must_pass(path, {"q1", "q2", "q3"}) == {"q1", "q2"}
    with pytest.raises(ConfigError, match=r"must-pass.txt: no question 'q2'"):
        read_must_pass(path, {"q1"})


def test_a_file_that_is_no_report_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with pytest.raises(ConfigError, match="make a report with: python -m evals retrieval"):
        read_report(path)
    path.write_text("{}", "utf-8")
    with pytest.raises(ConfigError, match="not a retrieval report: configs"):
        read_report(path)


# ---------------------------------------------------------------- the command


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    made = {
        "good": report({"default": [1.0] * 20}),
        "bad": report({"default": [1.0] * 15 + [0.0] * 5}),
        "other": report({"default": [1.0] * 20}, dataset="d2"),
    }
    for name, value in made.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value), "utf-8")
    (tmp_path / "pinned").write_text("q19\n", "utf-8")
    return {path.stem: str(path) for path in tmp_path.iterdir()}


ONLY = ["--metric", METRIC]


def test_the_command_passes_without_a_drop(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", files["bad"], files["good"], *ONLY]) == 0
    out = capsys.readouterr().out
    assert "+0.250" in out
    assert "default recall@3 won q15: Question 15? (0.00 to 1.00)" in out
    assert "pass: no measure dropped by more than 0.02" in out


def test_the_command_fails_where_the_drop_may_exceed_the_margin(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", files["good"], files["bad"], *ONLY]) == 1
    assert "FAIL default recall@3: it may have become worse by 0.4" in capsys.readouterr().out
    assert main(["compare", files["good"], files["bad"], *ONLY, "--margin", "0.6"]) == 0


def test_the_command_fails_for_a_pinned_question(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    pinned = ["--margin", "0.9", "--must-pass", files["pinned"]]
    assert main(["compare", files["good"], files["bad"], *ONLY, *pinned]) == 1
    assert "q19 must pass and is a miss now" in capsys.readouterr().out


@pytest.mark.parametrize("second", ["other", "nowhere"])
def test_bad_use_ends_with_two(
    files: dict[str, str], second: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = files.get(second, "nowhere.json")
    assert main(["compare", files["good"], path, *ONLY]) == 2
    assert capsys.readouterr().err.startswith("evals: ")


def test_the_json_has_every_figure_and_is_the_same_every_time(
    files: dict[str, str], tmp_path: Path
) -> None:
    texts = []
    for _ in range(2):
        out = tmp_path / "out.json"
        main(["compare", files["good"], files["bad"], *ONLY, "--json", str(out)])
        texts.append(out.read_text("utf-8"))
    assert texts[0] == texts[1]
    made = json.loads(texts[0])
    assert made["is_passed"] is False
    [row] = made["comparisons"]
    assert row["difference"] == -0.25
    assert row["interval"]["low"] < -0.25 < row["interval"]["high"]
    assert [change["id"] for change in row["lost"]] == ["q15", "q16", "q17", "q18", "q19"]
