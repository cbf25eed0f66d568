"""python -m evals, end to end: a tiny blog, the real model, an index that is thrown away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from evals.__main__ import main
from evals.configs import chunking_names
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


def measured(command: str, blog: Path, questions: Path, *options: str) -> int:
    words = ["--content", str(blog), "--questions", str(questions), "--embeddings", "hash"]
    return main([command, *words, *options])


def test_hashed_vectors_compare_configurations_and_are_said_to_measure_wiring(
    blog: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = {name: tmp_path / f"report.{name}" for name in ("json", "markdown", "html")}
    files = [word for name, path in made.items() for word in (f"--{name}", str(path))]
    configs = ("--configs", "token-vector,token-hybrid")
    assert measured("retrieval", blog, questions, *configs, *files) == 0

    report = json.loads(made["json"].read_text("utf-8"))
    assert list(report["configs"]) == list(report["per_question"]) == list(configs[1].split(","))
    assert report["provenance"]["embeddings"] == "hash"
    assert report["provenance"]["embedder_sha256"] is None
    assert report["provenance"]["index_id"] == "hash-384"
    for figures in report["configs"].values():
        assert figures["metrics"]["recall@1"] == 1.0
        assert (figures["chunks"], figures["over_the_limit"]) == (5, 0)
    assert report["decision"]["winner"] in report["configs"]

    heard = capsys.readouterr()
    assert "hashed vectors measure wiring, not meaning" in heard.err
    assert "chosen by the rule: " in heard.out
    for name in ("markdown", "html"):
        assert "hashed vectors" in made[name].read_text("utf-8"), name


def test_an_unknown_configuration_exits_2_and_names_the_known_ones(
    blog: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert measured("retrieval", blog, questions, "--configs", "token-vector,tokne") == 2
    assert capsys.readouterr().err == (
        "evals: unknown configuration 'tokne'; known: default, baseline-v4, token-vector, "
        "token-vector-div, token-hybrid-noid, token-hybrid\n"
    )


def test_the_chunking_experiment_lists_every_chunker(
    blog: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.json"
    assert measured("chunking", blog, questions, "--json", str(path)) == 0
    configs = json.loads(path.read_text("utf-8"))["configs"]
    assert list(configs) == chunking_names()
    assert all(figures["chunks"] > 0 for figures in configs.values())
    out = capsys.readouterr().out
    assert all(f"\n{name}: search p50" in out for name in chunking_names())


@pytest.mark.parametrize("command", ["retrieval", "chunking"])
def test_two_runs_give_the_same_json_but_for_seconds_and_the_date(
    blog: Path, questions: Path, tmp_path: Path, command: str
) -> None:
    paths = [tmp_path / "first.json", tmp_path / "second.json"]
    for path in paths:
        assert measured(command, blog, questions, "--json", str(path)) == 0
    first, second = (without_times(json.loads(path.read_text("utf-8"))) for path in paths)
    assert json.dumps(first) == json.dumps(second)


def without_times(report: dict[str, Any]) -> dict[str, Any]:
    """The report without latency_ms, the seconds of each question, and provenance.date."""
    for figures in report["configs"].values():
        assert set(figures.pop("latency_ms")) == {"p50", "p95"}
    for row in (row for rows in report["per_question"].values() for row in rows):
        assert row.pop("seconds") > 0
    assert report["provenance"].pop("date")
    return report
