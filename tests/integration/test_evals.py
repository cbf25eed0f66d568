"""python -m evals, end to end: a tiny blog, the real model, an index that is thrown away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from evals.__main__ import main
from evals.metrics import percentile
from service.calibration import load_calibrations

ROWS: list[dict[str, Any]] = [
    {
        "id": "t-1",
        "question": "how long do I knead the dough",
        "type": "exact",
        "slugs": ["bread"],
        "anchors": [{"slug": "bread", "anchor": "the-dough"}],
        "evidence": [{"slug": "bread", "quote": "Knead the dough for ten minutes."}],
        "split": "dev",
    },
    {
        "id": "t-2",
        "question": "my bike brakes are squeaking",
        "type": "troubleshooting",
        "slugs": ["bikes"],
        "anchors": [{"slug": "bikes", "anchor": "squeaking-brakes"}],
        "evidence": [{"slug": "bikes", "quote": "Clean the rim with alcohol first."}],
        "split": "heldout",
    },
    {
        "id": "t-3",
        "question": "when do elections take place in Norway",
        "type": "no-answer",
        "split": "heldout",
    },
]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.yaml"
    path.write_text(yaml.safe_dump(ROWS), "utf-8")
    return path


def test_retrieval_measures_a_blog_and_writes_every_kind_of_report(
    blog: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = {name: tmp_path / f"report.{name}" for name in ("json", "markdown", "html", "trec")}
    files = [word for name, path in made.items() for word in (f"--{name}", str(path))]
    command = ["retrieval", "--content", str(blog), "--questions", str(questions)]
    assert main([*command, *files]) == 0

    report = json.loads(made["json"].read_text("utf-8"))
    figures = report["configs"]["default"]
    assert figures["metrics"]["recall@1"] == 1.0
    assert figures["metrics"]["section_hit@6"] == 1.0
    assert figures["metrics"]["evidence_recall@5"] == 1.0
    assert figures["n"] == {"answerable": 2, "no_answer": 1}
    assert set(figures["by_type"]) == {"exact", "troubleshooting", "no-answer"}
    rows = {row["id"]: row for row in report["per_question"]["default"]}
    assert rows["t-1"]["hits"][0]["anchor"] == "the-dough"
    assert rows["t-1"]["hits"][0]["text"].startswith("## The dough")
    assert rows["t-3"]["scores"]["recall@1"] is None
    assert rows["t-3"]["top_cosine"] < rows["t-1"]["top_cosine"]
    seconds = [row["seconds"] for row in rows.values()]
    assert figures["latency_ms"]["p95"] == pytest.approx(1000 * percentile(seconds, 0.95))

    assert "<h1>100% of questions find their article" in made["html"].read_text("utf-8")
    assert made["markdown"].read_text("utf-8").startswith("# Retrieval\n")
    run = (made["trec"] / "default.run").read_text("utf-8").splitlines()
    assert run[0].split()[:4] == ["t-1", "Q0", "bread#the-dough", "1"]
    assert (made["trec"] / "qrels.txt").read_text("utf-8").splitlines() == [
        "t-1 0 bread#the-dough 1",
        "t-2 0 bikes#squeaking-brakes 1",
    ]
    assert "2 answerable and 1 no-answer questions" in capsys.readouterr().out

    assert main(["compare", str(made["json"]), str(made["json"])]) == 0
    assert "pass" in capsys.readouterr().out


def test_calibrate_writes_the_floor_and_does_not_certify_it_on_two_questions(
    blog: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "calibration.json"
    command = ["calibrate", "--content", str(blog), "--questions", str(questions)]
    assert main([*command, "--out", str(path), "--alpha", "0.1"]) == 0
    [made] = load_calibrations(path).values()
    assert (made.answerable, made.no_answer) == (1, 0)
    assert (made.heldout_answerable, made.heldout_no_answer) == (1, 1)
    assert made.false_refusal_upper == 0.95
    out = capsys.readouterr().out
    assert "NOT certified" in out
    assert "28 more questions without a failure would do" in out


@pytest.mark.parametrize("option", [["--alpha", "0"], ["--delta", "1"]])
def test_calibrate_refuses_a_risk_that_is_none(
    blog: Path, questions: Path, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["calibrate", "--content", str(blog), "--questions", str(questions)]
    assert main([*command, *option]) == 2
    assert "is not between 0 and 1" in capsys.readouterr().err


def test_a_wrong_label_stops_the_run_with_one_line(
    blog: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "questions.yaml"
    path.write_text(yaml.safe_dump([{**ROWS[0], "slugs": ["cakes"]}]), "utf-8")
    assert main(["retrieval", "--content", str(blog), "--questions", str(path)]) == 1
    assert capsys.readouterr().err == f"evals: {path}: t-1: there is no article 'cakes'\n"
