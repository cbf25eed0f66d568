"""Agreement on related articles is the mean Jaccard index."""

from __future__ import annotations

import pytest

from evals.related import mean_jaccard


def test_agreement_is_shared_over_all_averaged_over_articles() -> None:
    a = {"x": frozenset({"1", "2"}), "y": frozenset({"3"})}
    b = {"x": frozenset({"2", "4"}), "y": frozenset({"3"})}
    assert mean_jaccard(a, b) == pytest.approx((1 / 3 + 1) / 2)


def test_articles_without_any_relation_do_not_count() -> None:
    assert mean_jaccard({"x": frozenset()}, {"x": frozenset()}) is None
