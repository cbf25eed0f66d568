"""Reports: what they say, that they carry no foreign markup, and that they repeat byte for byte."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from evals.decide import decide
from evals.outputs import write_outputs
from evals.page import page
from evals.report import NOT_FOUND, cell, markdown, misses, rank_of, shown_configs
from evals.retrieval import per_question, summary
from evals.rules import read_rules
from evals.saved import SavedReport
from evals.types import EvalQuestion, EvidenceSpan, Hit, QuestionType, Ranked, SectionLabel

HOSTILE = "<script>alert(1)</script> [x](javascript:1) | `a` **b**"


def hit(slug: str, cosine: float = 0.6, start: int = 0, text: str = "How it begins") -> Hit:
    return Hit(
        slug=slug,
        anchor="setup",
        start=start,
        end=start + 100,
        cosine=cosine,
        is_introduction=False,
        text=text,
    )


def ranked(id: str, *hits: Hit, slug: str | None = "a", text: str = "How do I?") -> Ranked:
    question = EvalQuestion(
        id=id,
        text=text,
        type=QuestionType.HOW_TO if slug else QuestionType.NO_ANSWER,
        tags=("base",),
        slugs=(slug,) if slug else (),
        sections=(SectionLabel(slug=slug, anchor="setup"),) if slug else (),
        match="any",
        evidence=(EvidenceSpan(slug=slug, start=0, end=40, quote="turn it on"),) if slug else (),
        split="dev",
    )
    return Ranked(question=question, hits=hits, candidates=hits, seconds=0.02)


def run() -> list[Ranked]:
    return [
        ranked("found", hit("a"), hit("b", 0.5)),
        ranked("late", hit("b"), hit("c", 0.5), hit("d", 0.4), hit("a", 0.3)),
        ranked("never", hit("b", text=HOSTILE), hit("a", 0.25, 500), text=HOSTILE),
        ranked("passage", hit("a", start=300)),
        ranked("stranger", hit("b", 0.4), slug=None),
        ranked("silent", hit("b", 0.1), slug=None),
    ]


def report(*names: str, **provenance: Any) -> SavedReport:
    made = {
        "configs": {name: summary(run()) for name in names},
        "per_question": {name: per_question(run()) for name in names},
        "provenance": {"dataset_sha256": "f" * 64, "index_id": "minilm", **provenance},
    }
    return SavedReport.model_validate(json.loads(json.dumps(made)))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs


# ---------------------------------------------------------------- facts


def test_a_rank_is_that_of_the_first_excerpt_of_an_expected_article() -> None:
    rows = {row.id: row for row in report("x").per_question["x"]}
    assert (rank_of(rows["found"]), rank_of(rows["late"])) == (1, 4)
    assert rank_of(rows["stranger"]) == NOT_FOUND


def test_every_kind_of_miss_has_its_questions() -> None:
    late, passage, leaked = misses(report("x"), "x")
    assert [row.id for row in late.rows] == ["late"]
    assert [row.id for row in passage.rows] == ["never", "passage"]
    assert [row.id for row in leaked.rows] == ["stranger"]


def test_an_unscored_measure_is_not_shown_as_a_zero() -> None:
    assert cell(None, None, "mrr") == "unscored"
    assert cell(0.0, (0.0, 0.3), "mrr") == "0.000 (0.00 to 0.30)"
    assert cell(1234.4, None, "chars@5") == "1234"


def test_at_most_four_configurations_are_drawn() -> None:
    assert shown_configs(report(*"abcdef"), None) == ["a", "b", "c", "d"]


# ---------------------------------------------------------------- the page


def test_the_page_names_each_miss_with_what_was_expected_and_what_came() -> None:
    text = page(report("x"))
    card = text[text.index('<span class="chip">late</span>') :]
    assert "Expected <code>a#setup</code>. It comes at rank 4." in card
    assert "<blockquote>turn it on</blockquote>" in card
    assert card.index("<code>b#setup</code>") < card.index("<code>c#setup</code>")
    assert "How it begins" in card


def test_the_page_needs_nothing_from_outside_and_runs_no_script() -> None:
    tags = Tags()
    text = page(report("x", "y"))
    tags.feed(text)
    assert not {"script", "link", "img", "iframe"} & set(tags.names)
    assert not [a for a, _ in tags.attributes if a in ("src", "href") or a.startswith("on")]
    assert "url(" not in text
    assert "prefers-color-scheme: dark" in text


def test_readers_words_are_text_and_never_markup() -> None:
    assert "<script" not in page(report("x"))
    shown = markdown(report("x"))
    assert "<script" not in shown
    assert r"\[x\](javascript:1) \| \`a\` \*\*b\*\*" in shown


def test_every_plot_is_well_formed_and_has_a_name() -> None:
    plots = re.findall(r"<svg.*?</svg>", page(report("x", "y")), re.DOTALL)
    assert len(plots) == 5
    for plot in plots:
        assert ElementTree.fromstring(plot).get("aria-label")


def test_a_decision_is_shown_with_its_rule_and_what_was_not_tested() -> None:
    made = report("x", "y")
    decision = decide(made, read_rules())
    assert "Chosen by the rule: <code>x</code>" in page(made, decision)
    assert "| untested | " in markdown(made, decision)
    assert "Chosen by the rule: **x**" in markdown(made, decision)


def test_one_configuration_shows_ranks_and_two_show_how_they_change() -> None:
    assert "Where the article stands" in page(report("x"))
    text = page(report("x", "y"))
    assert "0 questions rise, 0 fall, 4 stay" in text


def test_hashed_vectors_are_said_to_measure_the_wiring_only() -> None:
    for made in (markdown, page):
        assert "not the meaning" in made(report("x", embeddings="hash"))
        assert "not the meaning" not in made(report("x"))


def test_a_run_without_no_answer_questions_still_makes_a_page() -> None:
    rows = [ranked("found", hit("a"))]
    made = SavedReport.model_validate(
        {
            "configs": {"x": summary(rows)},
            "per_question": {"x": per_question(rows)},
            "provenance": {},
        }
    )
    assert "unscored" in page(made)
    assert "unscored" in markdown(made)


# ---------------------------------------------------------------- Markdown


def test_the_summary_has_a_row_for_each_measure_with_its_interval() -> None:
    text = markdown(report("x", "y"))
    assert "| measure | x | y | meaning |" in text
    assert re.search(r"\| recall@3 \| 0\.750 \(0\.\d\d to 0\.\d\d\) \|", text)


def test_the_summary_folds_the_misses_away() -> None:
    text = markdown(report("x"))
    assert "<summary>The article is not among the first three: 1</summary>" in text
    assert "- **late** How do I?<br>expected a\\#setup<br>came b\\#setup 0.60" in text


# ---------------------------------------------------------------- the same bytes


SCRIPT = """
import sys
from pathlib import Path
from evals.decide import decide
from evals.page import page
from evals.report import markdown
from evals.rules import read_rules
from evals.saved import read_report
saved = read_report(Path(sys.argv[1]))
decision = decide(saved, read_rules())
sys.stdout.write(page(saved, decision) + markdown(saved, decision))
"""


def test_the_same_report_gives_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(report("x", "y").model_dump_json(), "utf-8")
    made = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, path],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(made) == 1
    [text] = made
    assert len(text) > 10_000


# ---------------------------------------------------------------- files


def test_a_run_of_two_configurations_writes_what_the_rule_chooses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = {name: tmp_path / name for name in ("json", "markdown", "html", "trec")}
    made = report("x", "y").model_dump(mode="json")
    write_outputs(argparse.Namespace(**out), made, {"x": run(), "y": run()})
    assert json.loads(out["json"].read_text("utf-8"))["decision"]["winner"] == "x"
    assert "Chosen by the rule" in out["html"].read_text("utf-8")
    assert sorted(p.name for p in out["trec"].iterdir()) == ["qrels.txt", "x.run", "y.run"]
    assert "chosen by the rule: x" in capsys.readouterr().out


def test_nothing_is_written_that_was_not_asked_for(tmp_path: Path) -> None:
    nothing = argparse.Namespace(json=None, markdown=None, html=None, trec=None)
    write_outputs(nothing, report("x").model_dump(mode="json"), {"x": run()})
    assert list(tmp_path.iterdir()) == []
