"""The cosine floor as data: what each floor costs, and the highest that costs no answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evals.metrics import best_expected_cosine, top_cosine
from evals.types import Ranked

STEP = 0.01  # floors are whole hundredths: finer would promise more than the questions can tell


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorRow:
    """What happens at one floor."""

    floor: float
    lost: int  # answerable questions whose expected article is no longer found
    false_positives: int  # no-answer questions for which something is still found


def floor_table(ranked: Sequence[Ranked]) -> list[FloorRow]:
    """One row for each floor from the lowest to the highest cosine seen."""
    expected = _expected(ranked)
    strangers = [top_cosine(r.candidates) for r in ranked if not r.question.is_answerable]
    seen = [*expected, *strangers]
    if not seen:
        return []
    first, last = math.floor(min(seen) / STEP), math.ceil(max(seen) / STEP)
    floors = [round(n * STEP, 2) for n in range(max(0, first), last + 1)]
    return [
        FloorRow(
            floor=floor,
            lost=sum(cosine < floor for cosine in expected),
            false_positives=sum(cosine >= floor for cosine in strangers),
        )
        for floor in floors
    ]


def calibrated_floor(ranked: Sequence[Ranked]) -> float | None:
    """The highest floor that loses no expected answer; None without answerable questions."""
    expected = _expected(ranked)
    if not expected:
        return None
    return round(math.floor(min(expected) / STEP + 1e-9) * STEP, 2)


def _expected(ranked: Sequence[Ranked]) -> list[float]:
    """Best cosine of an expected article, for each question whose article was found at all."""
    cosines = [best_expected_cosine(r.question, r.candidates) for r in ranked]
    return [cosine for cosine in cosines if cosine is not None and cosine > -1]
