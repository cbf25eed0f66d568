"""The cosine floor as data: what each floor costs, the highest that costs no answer, and how far
the top cosine tells questions with an answer from those without.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from evals.metrics import best_expected_cosine, recall_at_k, top_cosine
from evals.statistics import CONFIDENCE, upper_bound
from evals.types import Ranked

SHOWN = 6  # excerpts of an answer: the service's default
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


# ---------------------------------------------------------------- the top cosine as a detector


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorRates:
    """Mistakes of one floor as shares; None where there is no such question."""

    false_refusal: float | None  # answerable questions for which nothing reaches the floor
    leak: float | None  # no-answer questions for which something does


def floor_rates(ranked: Sequence[Ranked], floor: float) -> FloorRates:
    """How often the floor is wrong in each direction, whatever article is on top."""
    known, strangers = _top_cosines(ranked)
    return FloorRates(
        false_refusal=_share([cosine < floor for cosine in known]),
        leak=_share([cosine >= floor for cosine in strangers]),
    )


def auroc(ranked: Sequence[Ranked]) -> float | None:
    """Chance that an answerable question has a higher top cosine than a no-answer one; ties half.

    The area under the ROC curve (Hanley and McNeil 1982): 1 separates them, 0.5 is a coin. None
    without questions of both kinds.
    """
    known, strangers = _top_cosines(ranked)
    return _share([(a > b) + 0.5 * (a == b) for a in known for b in strangers])


def _top_cosines(ranked: Sequence[Ranked]) -> tuple[list[float], list[float]]:
    """Of the answerable questions, and of the others."""
    known = [top_cosine(r.candidates) for r in ranked if r.question.is_answerable]
    strangers = [top_cosine(r.candidates) for r in ranked if not r.question.is_answerable]
    return known, strangers


def _share(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskPoint:
    """What would happen if everything with at least this top cosine was answered."""

    cosine: float
    coverage: float  # answered / all
    selective_risk: float  # answered badly / answered
    joint_risk: float  # answered badly / all


def risk_coverage(ranked: Sequence[Ranked]) -> list[RiskPoint]:
    """From the strictest floor, which answers one question, to none at all, which answers each.

    Badly answered: a no-answer question, or one whose articles are not among the first six
    excerpts. Selective risk as in El-Yaniv and Wiener 2010. Equal cosines make one point.
    """
    scored = [(top_cosine(r.candidates), _is_bad(r)) for r in ranked]
    points = []
    for cosine in sorted({cosine for cosine, _ in scored}, reverse=True):
        answered = [bad for other, bad in scored if other >= cosine]
        points.append(
            RiskPoint(
                cosine=cosine,
                coverage=len(answered) / len(scored),
                selective_risk=sum(answered) / len(answered),
                joint_risk=sum(answered) / len(scored),
            )
        )
    return points


def _is_bad(ranked: Ranked) -> bool:
    return not recall_at_k(ranked.question, ranked.hits, SHOWN)


def augrc(points: Sequence[RiskPoint]) -> float | None:
    """Area under the joint risk over coverage (Traub et al. 2024): lower is better.

    The mean share of questions answered badly, over all floors. Half the share of bad questions is
    what a floor that cannot tell them apart gets. None without questions.
    """
    if not points:
        return None
    corners = [(0.0, 0.0), *((p.coverage, p.joint_risk) for p in points)]
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in itertools.pairwise(corners))


# ---------------------------------------------------------------- the certificate

_SEARCHED = 100_000  # questions; nobody labels more


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Whether n questions, chosen apart from the floor, prove that a failure rate is small."""

    failures: int
    n: int
    alpha: float  # the risk that is to be shown
    confidence: float  # 1 - delta
    upper: float  # the failure rate is below this, with that confidence
    missing: int | None  # further questions without a failure that would do; None: hopeless

    @property
    def is_certified(self) -> bool:
        """Whether the bound is within the risk."""
        return self.upper <= self.alpha


def certify(failures: int, n: int, *, alpha: float, delta: float = 1 - CONFIDENCE) -> Certificate:
    """Exact binomial test of one fixed floor: P(failure) <= alpha with confidence 1 - delta.

    The bound of Clopper and Pearson 1934, used as in Learn then Test (Angelopoulos et al. 2021). It
    holds for questions like these, and no longer once model, chunker or articles change.
    """
    confidence = 1 - delta
    return Certificate(
        failures=failures,
        n=n,
        alpha=alpha,
        confidence=confidence,
        upper=upper_bound(failures, n, confidence),
        missing=_missing(failures, n, alpha, confidence),
    )


def _missing(failures: int, n: int, alpha: float, confidence: float) -> int | None:
    low, high = n - 1, _SEARCHED
    if upper_bound(failures, high, confidence) > alpha:
        return None
    while high - low > 1:  # the bound falls as n grows
        middle = (low + high) // 2
        if upper_bound(failures, middle, confidence) <= alpha:
            high = middle
        else:
            low = middle
    return high - n
