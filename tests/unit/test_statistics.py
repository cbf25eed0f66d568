"""The statistics against known values, and against simulated questions that share articles."""

from __future__ import annotations

import math
import random

import pytest

from evals.statistics import (
    Cluster,
    Interval,
    benjamini_hochberg,
    binomial_tail,
    bootstrap_interval,
    cluster_error,
    cluster_mean,
    clusters_of,
    effective_n,
    exact_interval,
    minimum_detectable_effect,
    sign_flip_p,
    upper_bound,
    wilson_interval,
)


def singles(*values: float) -> list[Cluster]:
    return [Cluster(value, 1) for value in values]


def test_the_mean_is_over_questions_and_not_over_clusters() -> None:
    clusters = clusters_of([("a", 1.0), ("a", 1.0), ("a", 1.0), ("b", 0.0)])
    assert clusters == [Cluster(3.0, 3), Cluster(0.0, 1)]
    assert cluster_mean(clusters) == 0.75


def test_a_mean_of_nothing_is_an_error_and_not_a_zero() -> None:
    with pytest.raises(ValueError, match="no scored question"):
        cluster_mean([])


def test_the_standard_error_of_single_questions_is_the_textbook_one() -> None:
    values = [0.0, 1.0, 1.0, 0.5, 0.25]
    mean = sum(values) / 5
    textbook = math.sqrt(sum((v - mean) ** 2 for v in values) / 4 / 5)
    assert cluster_error(singles(*values)) == pytest.approx(textbook)


def test_copies_of_a_question_do_not_make_the_error_smaller() -> None:
    once = singles(0.0, 1.0, 1.0, 0.5)
    copied = [Cluster(10 * c.total, 10) for c in once]
    assert cluster_error(copied) == pytest.approx(cluster_error(once))
    assert cluster_error(copied[:1]) is None


def test_the_sign_flip_test_counts_every_pattern_of_a_few_clusters() -> None:
    # 3 + 2 + 1 = 6 is reached by one of eight patterns, and -6 by one
    assert sign_flip_p([Cluster(3, 4), Cluster(2, 4), Cluster(1, 4)]) == 2 / 8
    # |3 + 2 - 1| = 4: also +++ and its mirror
    assert sign_flip_p([Cluster(3, 4), Cluster(2, 4), Cluster(-1, 4)]) == 4 / 8


def test_without_any_difference_p_is_one() -> None:
    assert sign_flip_p(singles(0.0, 0.0, 0.0)) == 1.0
    assert sign_flip_p([]) == 1.0


def test_clusters_without_a_difference_do_not_change_p() -> None:
    some = singles(1.0, 1.0, -0.5)
    assert sign_flip_p(some + singles(*[0.0] * 100)) == sign_flip_p(some)


def test_many_clusters_are_drawn_and_p_is_never_zero() -> None:
    assert sign_flip_p(singles(*[1.0] * 40)) == 1 / 10_001


def test_drawn_and_counted_p_agree() -> None:
    rng = random.Random(1)
    clusters = singles(*(rng.gauss(0.3, 1) for _ in range(15)))
    exact = sign_flip_p(clusters)
    more = singles(*(c.total for c in clusters), 1e-9)  # sixteen: drawn
    assert sign_flip_p(more) == pytest.approx(exact, abs=0.02)


def test_the_bootstrap_of_a_large_sample_agrees_with_its_standard_error() -> None:
    rng = random.Random(2)
    clusters = [Cluster(sum(rng.random() for _ in range(3)), 3) for _ in range(200)]
    interval, error = bootstrap_interval(clusters, draws=4000), cluster_error(clusters)
    assert error is not None
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * error, rel=0.07)


def test_draws_are_the_same_every_time() -> None:
    clusters = singles(*(i % 3 / 2 for i in range(20)))
    assert bootstrap_interval(clusters) == bootstrap_interval(clusters)
    assert sign_flip_p(clusters) == sign_flip_p(clusters)


def test_the_minimum_detectable_effect_is_two_point_eight_standard_errors() -> None:
    clusters = singles(0.0, 1.0, 0.0, 1.0, 1.0)
    error = cluster_error(clusters)
    assert error is not None
    assert minimum_detectable_effect(clusters) == pytest.approx(2.8016 * error, rel=1e-4)
    assert minimum_detectable_effect(clusters[:1]) is None


def test_benjamini_hochberg_as_worked_by_hand() -> None:
    # sorted: .01*4/1=.04, .02*4/2=.04, .03*4/3=.04, .5*4/4=.5
    assert benjamini_hochberg([0.03, 0.5, 0.01, 0.02]) == pytest.approx([0.04, 0.5, 0.04, 0.04])
    assert benjamini_hochberg([0.9, 0.8]) == pytest.approx([0.9, 0.9])
    assert benjamini_hochberg([]) == []


def test_wilson_agrees_with_the_published_example() -> None:
    # Newcombe 1998, table I: 81 of 263
    interval = wilson_interval(singles(*[1.0] * 81, *[0.0] * 182))
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.2553, 0.3662)


def test_wilson_keeps_a_width_where_all_scores_are_equal() -> None:
    interval = wilson_interval(singles(*[1.0] * 10))  # Newcombe: 10 of 10
    assert interval == Interval(pytest.approx(0.7225, abs=1e-4), 1.0)


def test_questions_on_one_article_count_for_less() -> None:
    alone = singles(*[1.0, 0.0] * 10)
    together = [Cluster(10.0, 10), Cluster(0.0, 10), Cluster(5.0, 10), Cluster(5.0, 10)]
    assert effective_n(alone) == pytest.approx(19, abs=1)
    assert 4 <= effective_n(together) < 10
    assert effective_n([Cluster(7.0, 10)]) == 1.0
    wide, narrow = wilson_interval(together), wilson_interval(alone)
    assert wide.high - wide.low > narrow.high - narrow.low


@pytest.mark.parametrize(
    ("failures", "n", "bound"),
    [
        (0, 30, 0.095),
        (0, 59, 0.0495),
        (0, 100, 0.0295),
        (0, 299, 0.00997),
        (1, 10, 0.3942),  # Clopper and Pearson's table
        (10, 10, 1.0),
        (0, 0, 1.0),
    ],
)
def test_upper_bounds_are_the_known_ones(failures: int, n: int, bound: float) -> None:
    assert upper_bound(failures, n) == pytest.approx(bound, abs=5e-5 if bound != 0.095 else 5e-4)


def test_the_bound_of_no_failure_is_the_closed_form() -> None:
    for n in (1, 7, 60, 1500):
        assert upper_bound(0, n) == pytest.approx(1 - 0.05 ** (1 / n), abs=1e-9)


def test_the_two_sided_interval_is_the_known_one() -> None:
    interval = exact_interval(5, 20)
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.0866, 0.4910)
    assert exact_interval(0, 20).low == 0.0


def test_the_binomial_tail_is_a_probability() -> None:
    assert binomial_tail(1, 2, 0.5) == pytest.approx(0.75)
    assert binomial_tail(5, 5, 0.3) == pytest.approx(1.0)
    assert binomial_tail(3, 5, 1.0) == 0.0
    assert binomial_tail(0, 5, 0.0) == 1.0


def test_under_a_true_null_only_the_clustered_test_keeps_its_promise() -> None:
    """Ten questions an article, most of the variance between articles, no true difference."""
    rng = random.Random(3)
    rejected = {"naive": 0, "clustered": 0, "interval": 0}
    for _ in range(200):
        rows = []
        for article in range(20):
            shared = rng.gauss(0, 0.84)  # intraclass correlation 0.7
            rows += [(article, shared + rng.gauss(0, 0.55)) for _ in range(10)]
        clusters = clusters_of(rows)
        naive = singles(*(value for _, value in rows))
        interval = bootstrap_interval(clusters, draws=300)
        rejected["naive"] += sign_flip_p(naive, draws=200) <= 0.05
        rejected["clustered"] += sign_flip_p(clusters, draws=200) <= 0.05
        rejected["interval"] += not interval.low <= 0 <= interval.high
    assert rejected["naive"] > 60  # 40%, where 5% is promised
    assert rejected["clustered"] <= 19  # 5% of 200, and three standard errors
    assert rejected["interval"] <= 25  # percentile intervals of 20 clusters are a little short
