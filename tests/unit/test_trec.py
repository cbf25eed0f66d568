"""TREC files, read back by ir_measures."""

from __future__ import annotations

import random
from pathlib import Path

import ir_measures
import pytest
from ir_measures import Judged, Success

from evals.metrics import judged_at_k, mean, section_hit_at_k
from evals.trec import write_trec
from tests.eval_builders import hit, question, ranked


def test_trec_files_give_the_same_section_measures_in_ir_measures(tmp_path: Path) -> None:
    rng = random.Random(8)
    sections = [(slug, anchor) for slug in "abc" for anchor in ("", "one", "two")]
    run = []
    for n in range(20):
        labels = rng.sample(sections, 2)
        found = [
            hit(slug, anchor or "title", introduction=not anchor)
            for slug, anchor in rng.sample(sections, 6)
        ]
        run.append(ranked(question(id=f"q{n}", sections=labels), *found))
    write_trec(tmp_path, {"default": run, "other": run})
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "qrels.txt")))
    theirs = ir_measures.calc_aggregate(
        [Success @ 3, Judged @ 6], qrels, ir_measures.read_trec_run(str(tmp_path / "default.run"))
    )
    ours = {
        Success @ 3: mean([section_hit_at_k(r.question, r.hits, 3) for r in run]),
        Judged @ 6: mean([judged_at_k(r.question, r.hits, 6) for r in run]),
    }
    assert ours == pytest.approx(theirs)
    assert (tmp_path / "other.run").read_text().count(" other\n") == 120


def test_a_section_stands_in_a_run_once_and_an_introduction_has_no_anchor(tmp_path: Path) -> None:
    asked = question(sections=[("a", "title"), ("b", "one")])
    found = (hit("b", "one"), hit("a", "title", introduction=True), hit("b", "one", start=100))
    write_trec(tmp_path, {"default": [ranked(asked, *found)]})
    assert (tmp_path / "default.run").read_text() == (
        "q1 Q0 b#one 1 1.000000 default\nq1 Q0 a# 2 0.500000 default\n"
    )
    assert (tmp_path / "qrels.txt").read_text() == "q1 0 a# 1\nq1 0 b#one 1\n"
