"""The measures against cases counted by hand, and against ir_measures."""

from __future__ import annotations

import random

import ir_measures
import pytest
from ir_measures import RR, P, R, Success, nDCG

from evals.metrics import (
    chars_at_k,
    covers,
    evidence_recall_at_k,
    evidence_reciprocal_rank,
    hit_at_k,
    judged_at_k,
    mean,
    ndcg_at_k,
    percentile,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
    section_hit_at_k,
)
from evals.retrieval import per_question, summary
from evals.types import EvidenceSpan, Hit, QuestionType
from tests.eval_builders import hit, question, ranked


def hits(*slugs: str) -> list[Hit]:
    return [hit(slug) for slug in slugs]


# ---------------------------------------------------------------- articles


def test_recall_of_any_is_whole_with_one_of_the_articles() -> None:
    asked = question(slugs=("a", "b"))
    assert recall_at_k(asked, hits("c", "b", "a"), 1) == 0.0
    assert recall_at_k(asked, hits("c", "b", "a"), 2) == 1.0


def test_recall_of_all_is_the_share_of_the_articles() -> None:
    asked = question(slugs=("a", "b"), match="all")
    assert recall_at_k(asked, hits("a", "a", "c"), 3) == 0.5
    assert recall_at_k(asked, hits("a", "b"), 3) == 1.0


def test_ranks_are_ranks_of_excerpts_and_not_of_articles() -> None:
    assert recall_at_k(question(), hits("c", "c", "c", "a"), 3) == 0.0
    assert reciprocal_rank(question(), hits("c", "c", "c", "a")) == 0.25


def test_reciprocal_rank_stops_at_ten() -> None:
    assert reciprocal_rank(question(), hits(*"bbbbbbbbb", "a")) == 0.1
    assert reciprocal_rank(question(), hits(*"bbbbbbbbbb", "a")) == 0.0
    assert reciprocal_rank(question(), []) == 0.0


def test_ndcg_counts_each_article_once() -> None:
    asked = question(slugs=("a", "b"))
    # gains 1, 0, 1 of an ideal 1, 1: (1 + 1/2) / (1 + 0.63093)
    assert ndcg_at_k(asked, hits("a", "a", "b")) == pytest.approx(1.5 / 1.6309297535714575)


def test_a_section_counts_with_its_anchor_and_an_introduction_without_one() -> None:
    asked = question(sections=[("a", "setup"), ("b", "")])
    assert section_hit_at_k(asked, [hit("a", "other")], 6) == 0.0
    assert section_hit_at_k(asked, [hit("a", "setup")], 6) == 1.0
    assert section_hit_at_k(asked, [hit("b", "title", introduction=True)], 6) == 1.0


# ---------------------------------------------------------------- evidence


@pytest.mark.parametrize(
    ("start", "end", "covered"),
    [
        (0, 100, False),  # ends where the evidence starts
        (0, 120, True),  # half of 100..140
        (0, 119, False),  # one character less than half
        (110, 130, True),  # half, inside
        (100, 140, True),
    ],
)
def test_an_excerpt_is_relevant_from_half_of_the_evidence_on(
    start: int, end: int, covered: bool
) -> None:
    span = EvidenceSpan(slug="a", start=100, end=140)
    assert covers(hit("a", start=start, end=end), span) is covered
    assert not covers(hit("b", start=start, end=end), span)


EVIDENCE = question(evidence=[("a", 0, 40), ("b", 0, 40)])
FOUND = [hit("c"), hit("a"), hit("a", start=10, end=60), hit("d"), hit("b"), hit("c")]


def test_evidence_measures_as_counted_by_hand() -> None:
    assert evidence_recall_at_k(EVIDENCE, FOUND, 3) == 0.5
    assert evidence_recall_at_k(EVIDENCE, FOUND, 5) == 1.0
    assert hit_at_k(EVIDENCE, FOUND, 1) == 0.0
    assert hit_at_k(EVIDENCE, FOUND, 2) == 1.0
    assert evidence_reciprocal_rank(EVIDENCE, FOUND) == 0.5
    assert evidence_reciprocal_rank(EVIDENCE, hits(*"cccccccccc", "a")) == 0.0


def test_precision_is_divided_by_k_even_if_fewer_were_found() -> None:
    assert precision_at_k(EVIDENCE, FOUND, 5) == 3 / 5
    assert precision_at_k(EVIDENCE, FOUND[:2], 5) == 1 / 5


def test_judged_is_the_share_of_what_was_found_whose_section_is_labelled() -> None:
    asked = question(sections=[("a", "x")])
    assert judged_at_k(asked, hits("a", "b", "a", "b"), 3) == pytest.approx(2 / 3)
    assert judged_at_k(asked, hits("a"), 3) == 1.0
    assert judged_at_k(asked, [], 3) is None


def test_characters_are_those_of_the_first_k() -> None:
    assert chars_at_k([hit("a", end=10), hit("a", start=5, end=9), hit("b")], 2) == 14


# ---------------------------------------------------------------- unscored


def test_a_question_without_labels_is_unscored_and_never_zero() -> None:
    stranger = question(slugs=(), type=QuestionType.NO_ANSWER)
    found = hits("a", "b")
    scores = [
        recall_at_k(stranger, found, 3),
        reciprocal_rank(stranger, found),
        ndcg_at_k(stranger, found),
        section_hit_at_k(stranger, found, 6),
        evidence_recall_at_k(stranger, found, 5),
        precision_at_k(stranger, found, 5),
        hit_at_k(stranger, found, 5),
        evidence_reciprocal_rank(stranger, found),
        judged_at_k(stranger, found, 6),
    ]
    assert scores == [None] * 9


def test_the_mean_leaves_the_unscored_out() -> None:
    assert mean([1.0, None, 0.0]) == 0.5
    assert mean([None, None]) is None


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.95) == 4.0


# ---------------------------------------------------------------- the summary


def test_results_by_type_and_tag_count_their_own_questions() -> None:
    run = [
        ranked(question(id="1"), hit("a")),
        ranked(question(id="2", type=QuestionType.EXACT, tags=("hard", "exact")), hit("b")),
        ranked(question(id="3", slugs=(), type=QuestionType.NO_ANSWER), hit("b", cosine=0.2)),
    ]
    figures = summary(run)
    assert figures["metrics"]["recall@1"] == 0.5
    assert figures["by_type"]["concept"]["metrics"]["recall@1"] == 1.0
    assert figures["by_type"]["exact"]["metrics"]["recall@1"] == 0.0
    assert figures["by_type"]["no-answer"]["metrics"]["recall@1"] is None
    assert figures["by_type"]["no-answer"]["metrics"]["no_answer_fp"] == 0.0
    assert {name: g["n"] for name, g in figures["by_tag"].items()} == {
        "base": 2,
        "exact": 1,
        "hard": 1,
    }


def test_an_interval_holds_its_mean_and_belongs_to_the_measure() -> None:
    figures = summary([ranked(question(id=str(n)), hit("a" if n % 3 else "b")) for n in range(30)])
    low, high = figures["intervals"]["recall@1"]
    assert low < figures["metrics"]["recall@1"] < high
    assert figures["intervals"]["evidence_recall@5"] is None


def test_a_row_says_what_was_expected_and_what_came() -> None:
    asked = question(sections=[("a", "x")], evidence=[("a", 0, 10)])
    [row] = per_question([ranked(asked, hit("b", cosine=0.4), hit("a", cosine=0.3))])
    assert row["expected"] == ["a"]
    assert row["sections"] == [{"slug": "a", "anchor": "x"}]
    assert (row["top_cosine"], row["best_expected_cosine"]) == (0.4, 0.3)
    assert row["hits"][0]["chars"] == 100


# ---------------------------------------------------------------- ir_measures


def test_the_worked_example_of_ir_measures() -> None:
    """Its README: Q0 ranks D0 before the relevant D1, Q1 ranks the relevant D3 before D0."""
    first, second = question(slugs=("D1",)), question(slugs=("D3",))
    runs = [(first, hits("D0", "D1")), (second, hits("D3", "D0"))]
    assert mean([reciprocal_rank(q, found) for q, found in runs]) == 0.75
    assert mean([ndcg_at_k(q, found) for q, found in runs]) == pytest.approx(0.8154648767857288)


def test_article_measures_agree_with_ir_measures_on_random_rankings() -> None:
    rng = random.Random(5)
    for _ in range(50):
        articles = [f"d{n}" for n in range(12)]
        found = rng.sample(articles, rng.randint(1, 12))  # each article once, as in a TREC run
        wanted = tuple(rng.sample(articles, rng.randint(1, 4)))
        asked = question(slugs=wanted, match="all")
        run = [ir_measures.ScoredDoc("q1", d, -float(r)) for r, d in enumerate(found)]
        qrels = [ir_measures.Qrel("q1", d, 1) for d in wanted]
        theirs = ir_measures.calc_aggregate([R @ 3, RR @ 10, nDCG @ 10, Success @ 3], qrels, run)
        ours = {
            R @ 3: recall_at_k(asked, hits(*found), 3),
            RR @ 10: reciprocal_rank(asked, hits(*found)),
            nDCG @ 10: ndcg_at_k(asked, hits(*found)),
            Success @ 3: recall_at_k(question(slugs=wanted), hits(*found), 3),
        }
        assert ours == pytest.approx(theirs)


def test_evidence_measures_agree_with_ir_measures_on_random_rankings() -> None:
    """One span a chunk: then a relevant chunk is a relevant document."""
    rng = random.Random(6)
    for _ in range(50):
        order = rng.sample(range(12), 12)
        wanted = rng.sample(range(12), rng.randint(1, 4))
        asked = question(evidence=[("a", 100 * n + 20, 100 * n + 60) for n in wanted])
        found = [hit("a", start=100 * n, end=100 * n + 100) for n in order]
        run = [ir_measures.ScoredDoc("q1", str(n), -float(r)) for r, n in enumerate(order)]
        qrels = [ir_measures.Qrel("q1", str(n), 1) for n in wanted]
        theirs = ir_measures.calc_aggregate([P @ 5, R @ 5, Success @ 5, RR @ 10], qrels, run)
        ours = {
            P @ 5: precision_at_k(asked, found, 5),
            R @ 5: evidence_recall_at_k(asked, found, 5),
            Success @ 5: hit_at_k(asked, found, 5),
            RR @ 10: evidence_reciprocal_rank(asked, found),
        }
        assert ours == pytest.approx(theirs)
