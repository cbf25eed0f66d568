"""The nouns of measuring. A score is a number or None, which means *unscored*: never a zero."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class QuestionType(StrEnum):
    """What kind of answer a reader wants."""

    CONCEPT = "concept"
    HOW_TO = "how-to"
    EXACT = "exact"
    TROUBLESHOOTING = "troubleshooting"
    NO_ANSWER = "no-answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionLabel:
    """A section that answers; the anchor "" means the article's introduction."""

    slug: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSpan:
    """Where a labelled quote stands in the cleaned text of an article."""

    slug: str
    start: int
    end: int
    quote: str = ""  # as labelled, for reports


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalQuestion:
    """A reader's question with its labels. Labels never name chunks: they survive re-chunking."""

    id: str
    text: str
    type: QuestionType
    tags: tuple[str, ...]
    slugs: tuple[str, ...]  # empty for no-answer
    sections: tuple[SectionLabel, ...]
    match: Literal["any", "all"]  # any: one of the slugs is enough; all: each is needed
    evidence: tuple[EvidenceSpan, ...]
    split: Literal["dev", "heldout"]

    @property
    def is_answerable(self) -> bool:
        """Whether the articles are labelled to answer it."""
        return self.type is not QuestionType.NO_ANSWER

    @property
    def cluster(self) -> str:
        """The article it was asked about: questions on the same one are not independent."""
        return self.slugs[0] if self.slugs else self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Questions whose labels were checked against the articles."""

    questions: tuple[EvalQuestion, ...]
    sha256: str  # of the question file and of the articles' cleaned texts
    articles_sha256: str = ""  # of the articles alone

    def split(self, name: str) -> tuple[EvalQuestion, ...]:
        """The questions of `dev`, `heldout` or `all`."""
        return tuple(q for q in self.questions if name in ("all", q.split))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One retrieved chunk, as far as measuring needs it."""

    slug: str
    anchor: str
    start: int
    end: int
    cosine: float
    is_introduction: bool  # stands before the article's first section below its title
    text: str = ""  # how it begins, for reports


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A question with what was retrieved for it."""

    question: EvalQuestion
    hits: tuple[Hit, ...]  # as a reader would get them without a floor, best first
    candidates: tuple[Hit, ...]  # before the per-article cap, nearest first
    seconds: float  # of the search call: embed, fetch, select
