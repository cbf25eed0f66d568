"""Questions, hits and rankings with sensible defaults, for the tests of the evals."""

from __future__ import annotations

from collections.abc import Sequence

from evals.types import EvalQuestion, EvidenceSpan, Hit, QuestionType, Ranked, SectionLabel


def question(
    *,
    id: str = "q1",
    slugs: Sequence[str] = ("a",),
    sections: Sequence[tuple[str, str]] = (),
    match: str = "any",
    evidence: Sequence[tuple[str, int, int]] = (),
    type: QuestionType = QuestionType.CONCEPT,
    tags: Sequence[str] = ("base",),
) -> EvalQuestion:
    return EvalQuestion(
        id=id,
        text="How?",
        type=type,
        tags=tuple(tags),
        slugs=tuple(slugs),
        sections=tuple(SectionLabel(slug=slug, anchor=anchor) for slug, anchor in sections),
        match=match,
        evidence=tuple(EvidenceSpan(slug=slug, start=s, end=e) for slug, s, e in evidence),
        split="dev",
    )


def hit(
    slug: str,
    anchor: str = "x",
    start: int = 0,
    end: int = 100,
    *,
    cosine: float = 0.5,
    introduction: bool = False,
) -> Hit:
    return Hit(
        slug=slug,
        anchor=anchor,
        start=start,
        end=end,
        cosine=cosine,
        is_introduction=introduction,
    )


def ranked(asked: EvalQuestion, *found: Hit) -> Ranked:
    return Ranked(question=asked, hits=found, candidates=found, seconds=0.01)
