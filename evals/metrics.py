"""Measures of one ranking, pure. Each says what it counts; None means the question is unscored.

Ranks are ranks of excerpts, as a reader's answer sees them: recall@6 asks whether the article is
among the six excerpts, not among six different articles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from evals.types import EvalQuestion, EvidenceSpan, Hit

EVIDENCE_SHARE = 0.5  # a chunk is relevant if it covers at least half of an evidence span


def recall_at_k(question: EvalQuestion, hits: Sequence[Hit], k: int) -> float | None:
    """Share of the needed articles among the first k excerpts; with `match: any`, 1 for any.

    R@k of ir_measures for `match: all`, Success@k for `match: any`.
    """
    if not question.slugs:
        return None
    found = {hit.slug for hit in hits[:k]} & set(question.slugs)
    if question.match == "any":
        return float(bool(found))
    return len(found) / len(set(question.slugs))


def reciprocal_rank(question: EvalQuestion, hits: Sequence[Hit], k: int = 10) -> float | None:
    """1 / rank of the first excerpt of an expected article within k, else 0.

    RR@k (Voorhees 1999); MRR is its mean.
    """
    if not question.slugs:
        return None
    ranks = (rank for rank, hit in enumerate(hits[:k], start=1) if hit.slug in question.slugs)
    return 1 / next(ranks, math.inf)


def section_hit_at_k(question: EvalQuestion, hits: Sequence[Hit], k: int) -> float | None:
    """1 if a labelled section is among the first k excerpts (Success@k of ir_measures)."""
    if not question.sections:
        return None
    labels = {(s.slug, s.anchor) for s in question.sections}
    return float(any(_is_labelled(hit, labels) for hit in hits[:k]))


def _is_labelled(hit: Hit, labels: set[tuple[str, str]]) -> bool:
    return (hit.slug, hit.anchor) in labels or (hit.is_introduction and (hit.slug, "") in labels)


def ndcg_at_k(question: EvalQuestion, hits: Sequence[Hit], k: int = 10) -> float | None:
    """nDCG as in Järvelin and Kekäläinen 2002 over articles, gain 1, log2 discount.

    Only the first excerpt of each article gains, so that one long article cannot fill the list.
    """
    if not question.slugs:
        return None
    seen: set[str] = set()
    gains = []
    for hit in hits[:k]:
        gains.append(float(hit.slug in question.slugs and hit.slug not in seen))
        seen.add(hit.slug)
    ideal = [1.0] * min(k, len(set(question.slugs)))
    return _dcg(gains) / _dcg(ideal)


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def covers(hit: Hit, span: EvidenceSpan) -> bool:
    """Whether the excerpt holds at least half of the evidence."""
    overlap = min(hit.end, span.end) - max(hit.start, span.start)
    return hit.slug == span.slug and overlap >= EVIDENCE_SHARE * (span.end - span.start)


def evidence_recall_at_k(question: EvalQuestion, hits: Sequence[Hit], k: int) -> float | None:
    """Share of the evidence spans covered by the first k excerpts (R@k over spans)."""
    if not question.evidence:
        return None
    covered = [any(covers(hit, span) for hit in hits[:k]) for span in question.evidence]
    return sum(covered) / len(covered)


def precision_at_k(question: EvalQuestion, hits: Sequence[Hit], k: int) -> float | None:
    """Share of k, always divided by k, that covers some evidence (P@k of ir_measures)."""
    if not question.evidence:
        return None
    return sum(_is_evidence(question, hit) for hit in hits[:k]) / k


def _is_evidence(question: EvalQuestion, hit: Hit) -> bool:
    return any(covers(hit, span) for span in question.evidence)


def hit_at_k(question: EvalQuestion, hits: Sequence[Hit], k: int) -> float | None:
    """1 if any of the first k excerpts covers some evidence (Success@k of ir_measures)."""
    if not question.evidence:
        return None
    return float(any(_is_evidence(question, hit) for hit in hits[:k]))


def evidence_reciprocal_rank(
    question: EvalQuestion, hits: Sequence[Hit], k: int = 10
) -> float | None:
    """1 / rank of the first excerpt within k that covers some evidence, else 0 (RR@k)."""
    if not question.evidence:
        return None
    ranks = (rank for rank, hit in enumerate(hits[:k], 1) if _is_evidence(question, hit))
    return 1 / next(ranks, math.inf)


def judged_at_k(question: EvalQuestion, hits: Sequence[Hit], k: int) -> float | None:
    """Share of the first k excerpts whose section somebody labelled (Judged@k of ir_measures).

    The rest counts as irrelevant though nobody looked. None where no section is labelled or
    nothing was found.
    """
    if not question.sections or not hits[:k]:
        return None
    labels = {(s.slug, s.anchor) for s in question.sections}
    return sum(_is_labelled(hit, labels) for hit in hits[:k]) / len(hits[:k])


def chars_at_k(hits: Sequence[Hit], k: int) -> float:
    """Characters of the first k excerpts together: what a reader, or a model, has to read."""
    return float(sum(hit.end - hit.start for hit in hits[:k]))


def best_expected_cosine(question: EvalQuestion, candidates: Sequence[Hit]) -> float | None:
    """Highest cosine of a candidate of an expected article; -1 if none was even a candidate."""
    if not question.slugs:
        return None
    return max((hit.cosine for hit in candidates if hit.slug in question.slugs), default=-1.0)


def top_cosine(candidates: Sequence[Hit]) -> float:
    """Highest cosine of all; -1 where nothing was found."""
    return max((hit.cosine for hit in candidates), default=-1.0)


def mean(values: Sequence[float | None]) -> float | None:
    """Mean of the scored ones; None if there are none."""
    scored = [value for value in values if value is not None]
    return sum(scored) / len(scored) if scored else None


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values don't exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
