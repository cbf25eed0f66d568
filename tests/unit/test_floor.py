"""The floor's table and the measures of the top cosine, against hand-counted cases."""

from __future__ import annotations

import random

import pytest

from evals.floor import (
    augrc,
    auroc,
    calibrated_floor,
    certify,
    floor_rates,
    floor_table,
    risk_coverage,
)
from evals.types import EvalQuestion, Hit, QuestionType, Ranked


def ranked(cosine: float, *, answerable: bool = True, found: bool = True) -> Ranked:
    """A question whose best hit has this cosine, of the expected article or of another."""
    kind = QuestionType.CONCEPT if answerable else QuestionType.NO_ANSWER
    question = EvalQuestion(
        id="q",
        text="?",
        type=kind,
        tags=(),
        slugs=("a",) if answerable else (),
        sections=(),
        match="any",
        evidence=(),
        split="dev",
    )
    hit = Hit(
        slug="a" if found else "b", anchor="", start=0, end=9, cosine=cosine, is_introduction=True
    )
    return Ranked(question=question, hits=(hit,), candidates=(hit,), seconds=0.0)


MIXED = [
    ranked(0.9),
    ranked(0.7),
    ranked(0.5, answerable=False),
    ranked(0.45),
    ranked(0.2, answerable=False),
]


def test_the_table_counts_what_a_floor_loses_and_what_it_lets_through() -> None:
    rows = {row.floor: row for row in floor_table(MIXED)}
    assert (rows[0.2].lost, rows[0.2].false_positives) == (0, 2)
    assert (rows[0.46].lost, rows[0.46].false_positives) == (1, 1)
    assert (rows[0.9].lost, rows[0.9].false_positives) == (2, 0)
    assert floor_table([]) == []


def test_the_calibrated_floor_is_the_highest_that_loses_nothing() -> None:
    assert calibrated_floor(MIXED) == 0.45
    assert calibrated_floor([ranked(0.456)]) == 0.45


def test_without_answerable_questions_there_is_no_floor() -> None:
    assert calibrated_floor([ranked(0.5, answerable=False)]) is None


def test_rates_are_shares_of_their_own_kind() -> None:
    rates = floor_rates(MIXED, 0.46)
    assert rates.false_refusal == pytest.approx(1 / 3)
    assert rates.leak == 0.5
    assert floor_rates(MIXED, 0.45).false_refusal == 0.0  # at the floor passes


def test_a_rate_of_nothing_is_unscored() -> None:
    rates = floor_rates([ranked(0.5)], 0.1)
    assert (rates.false_refusal, rates.leak) == (0.0, None)
    assert auroc([ranked(0.5)]) is None
    assert augrc([]) is None


def test_auroc_counts_pairs_in_the_right_order_and_ties_by_half() -> None:
    assert auroc(MIXED) == pytest.approx(5 / 6)
    assert auroc([ranked(0.5), ranked(0.5, answerable=False)]) == 0.5
    assert auroc([ranked(0.4), ranked(0.5, answerable=False)]) == 0.0


def test_the_risk_coverage_curve_ends_where_everything_is_answered() -> None:
    points = risk_coverage(MIXED)
    assert [p.coverage for p in points] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert [p.joint_risk for p in points] == pytest.approx([0, 0, 0.2, 0.2, 0.4])
    assert points[2].selective_risk == pytest.approx(1 / 3)


def test_an_answer_from_the_wrong_article_is_a_bad_one() -> None:
    assert risk_coverage([ranked(0.9, found=False)])[0].selective_risk == 1.0


def test_equal_cosines_are_one_point_of_the_curve() -> None:
    assert len(risk_coverage([ranked(0.5), ranked(0.5, answerable=False)])) == 1


def test_augrc_is_the_area_counted_by_hand() -> None:
    # trapezoids of width 0.2 over joint risks 0, 0, 0, .2, .2, .4
    assert augrc(risk_coverage(MIXED)) == pytest.approx(0.2 * (0 + 0 + 0.1 + 0.2 + 0.3))


def test_augrc_is_the_closed_form_of_its_paper() -> None:
    """(1 - AUROC) accuracy (1 - accuracy) + (1 - accuracy)^2 / 2, whatever the scores."""
    rng = random.Random(4)
    for _ in range(20):
        some = [ranked(round(rng.random(), 1), answerable=rng.random() < 0.7) for _ in range(40)]
        accuracy = sum(r.question.is_answerable for r in some) / 40
        area = auroc(some)
        assert area is not None
        closed = (1 - area) * accuracy * (1 - accuracy) + (1 - accuracy) ** 2 / 2
        assert augrc(risk_coverage(some)) == pytest.approx(closed)


@pytest.mark.parametrize(
    ("failures", "n", "certified", "missing"),
    [
        (0, 30, False, 29),  # 9.5%, and 59 questions are needed
        (0, 58, False, 1),
        (0, 59, True, 0),  # 4.95%
        (1, 59, False, 34),  # 93 with one failure
        (1, 93, True, 0),
        (0, 0, False, 59),
    ],
)
def test_too_few_questions_certify_nothing_and_the_missing_ones_are_counted(
    failures: int, n: int, certified: bool, missing: int
) -> None:
    certificate = certify(failures, n, alpha=0.05, delta=0.05)
    assert certificate.is_certified is certified
    assert certificate.missing == missing


def test_the_bound_of_a_certificate_is_clopper_pearson() -> None:
    assert certify(0, 100, alpha=0.05, delta=0.05).upper == pytest.approx(0.0295, abs=5e-5)


def test_a_risk_beyond_all_counting_says_so() -> None:
    assert certify(0, 10, alpha=1e-9, delta=0.05).missing is None
