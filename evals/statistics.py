"""Statistics of scores, pure and seeded: intervals, a paired test, power, corrections.

Questions on the same article are not independent, so everything here takes clusters. The choice of
methods follows Urbano et al. 2019 (permutation tests for retrieval) and Miller 2024 (clustered
errors for evals).
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

SEED = 7  # chosen, not measured; the same draws every time
DRAWS = 10_000  # p is then known to about 0.004 at 0.05
EXACT_CLUSTERS = 15  # 2 ** 15 sign patterns take 30 ms
CONFIDENCE = 0.95
POWER = 0.8
_ROUNDING = 1e-12  # sums in another order differ in the last bits; they count as equal


@dataclass(frozen=True, slots=True)
class Cluster:
    """The scores, or differences of scores, that stand or fall together."""

    total: float
    n: int


@dataclass(frozen=True, slots=True)
class Interval:
    """Both ends are meant to be included."""

    low: float
    high: float


def clusters_of(values: Iterable[tuple[Hashable, float]]) -> list[Cluster]:
    """Sums and counts by cluster name, in the order in which the names first occur."""
    found: dict[Hashable, Cluster] = {}
    for name, value in values:
        known = found.get(name, Cluster(0.0, 0))
        found[name] = Cluster(known.total + value, known.n + 1)
    return list(found.values())


def cluster_mean(clusters: Sequence[Cluster]) -> float:
    """The mean over questions, not over clusters. Raises ValueError without any."""
    if not clusters:
        raise ValueError("no scored question: there is no mean")
    return sum(c.total for c in clusters) / sum(c.n for c in clusters)


def cluster_error(clusters: Sequence[Cluster]) -> float | None:
    """Standard error of that mean; None below two clusters.

    The linearised variance of a ratio of cluster totals to cluster sizes (Cochran 1977, 6.4).
    """
    count = len(clusters)
    if count < 2:
        return None
    mean, n = cluster_mean(clusters), sum(c.n for c in clusters)
    squares = sum((c.total - mean * c.n) ** 2 for c in clusters)
    return math.sqrt(count / (count - 1) * squares) / n


def sign_flip_p(clusters: Sequence[Cluster], *, draws: int = DRAWS, seed: int = SEED) -> float:
    """Two-sided p of a mean difference under Fisher's randomisation, flipping whole clusters.

    Every sign pattern up to 15 clusters with a difference, else (b + 1) / (m + 1) over seeded draws
    (Phipson and Smyth 2010), which is never 0.
    """
    totals = [c.total for c in clusters if abs(c.total) > _ROUNDING]  # flipping 0 changes nothing
    observed = abs(sum(totals)) - _ROUNDING
    if len(totals) <= EXACT_CLUSTERS:
        sums = [0.0]
        for total in totals:
            sums = [s + sign * total for s in sums for sign in (1, -1)]
        return sum(abs(s) >= observed for s in sums) / len(sums)
    rng = random.Random(seed)  # noqa: S311 - not a secret
    flipped = (
        sum(t if bits >> i & 1 else -t for i, t in enumerate(totals))
        for bits in (rng.getrandbits(len(totals)) for _ in range(draws))
    )
    return (sum(abs(s) >= observed for s in flipped) + 1) / (draws + 1)


def bootstrap_interval(
    clusters: Sequence[Cluster], *, draws: int = DRAWS, seed: int = SEED
) -> Interval:
    """95% percentile interval of the mean, drawing whole clusters (Davison and Hinkley 1997)."""
    rng = random.Random(seed)  # noqa: S311 - not a secret
    means = sorted(cluster_mean(rng.choices(clusters, k=len(clusters))) for _ in range(draws))
    tail = (1 - CONFIDENCE) / 2
    return Interval(means[math.floor(tail * draws)], means[math.ceil((1 - tail) * draws) - 1])


def minimum_detectable_effect(clusters: Sequence[Cluster]) -> float | None:
    """The true mean difference that a test at 0.05 would find four times in five.

    (z of 0.975 + z of 0.8) standard errors: 2.80 of them (Bloom 1995). None below two clusters.
    """
    error = cluster_error(clusters)
    if error is None:
        return None
    normal = NormalDist()
    return (normal.inv_cdf((1 + CONFIDENCE) / 2) + normal.inv_cdf(POWER)) * error


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p in the given order: below q, the expected share of false finds is at most q.

    Benjamini and Hochberg 1995.
    """
    count, adjusted, least = len(p_values), [0.0] * len(p_values), 1.0
    order = sorted(range(count), key=lambda i: p_values[i], reverse=True)
    for rank, i in zip(range(count, 0, -1), order, strict=True):
        least = min(least, p_values[i] * count / rank)
        adjusted[i] = least
    return adjusted


def effective_n(clusters: Sequence[Cluster]) -> float:
    """How many independent questions would say as much (Kish 1965), of scores within [0, 1].

    Between the number of clusters and the number of questions.
    """
    n = sum(c.n for c in clusters)
    error, mean = cluster_error(clusters), cluster_mean(clusters)
    if error is None:
        return float(len(clusters))
    spread = mean * (1 - mean)
    if error <= _ROUNDING or spread <= _ROUNDING:
        return float(n)
    return max(float(len(clusters)), min(float(n), spread / error**2))


def wilson_interval(clusters: Sequence[Cluster]) -> Interval:
    """95% interval of a mean of scores within [0, 1] (Wilson 1927), on the effective sample size.

    The recommendation for clustered samples of Franco et al. 2019. It keeps its width where all
    scores are equal, and is on the wide side for scores between 0 and 1.
    """
    n, p = effective_n(clusters), cluster_mean(clusters)
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def binomial_tail(failures: int, n: int, p: float) -> float:
    """P(at most `failures` of n) where each fails with probability p; exact."""
    if p <= 0:
        return 1.0
    if p >= 1:
        return float(failures >= n)
    logs = (
        math.log(math.comb(n, i)) + i * math.log(p) + (n - i) * math.log1p(-p)
        for i in range(failures + 1)
    )
    return math.fsum(math.exp(log) for log in logs)


def upper_bound(failures: int, n: int, confidence: float = CONFIDENCE) -> float:
    """One-sided upper bound of a failure rate (Clopper and Pearson 1934).

    The largest p with P(at most `failures` | p) >= 1 - confidence. 1.0 if all or nothing was seen.
    """
    if n == 0 or failures >= n:
        return 1.0
    low, high = failures / n, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if binomial_tail(failures, n, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def exact_interval(failures: int, n: int) -> Interval:
    """Two-sided 95% interval of a failure rate (Clopper and Pearson 1934)."""
    one_side = (1 + CONFIDENCE) / 2
    return Interval(1 - upper_bound(n - failures, n, one_side), upper_bound(failures, n, one_side))
