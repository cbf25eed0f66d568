"""Wire models and the conversion from a Trace to the JSON outcome that every way in gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from service.ask import prompts
from service.ask.links import citation_url, section_url
from service.types import Abstention, Answer, Citation, Excerpt, Refusal, Statement, Trace


class AskRequest(BaseModel):
    """Body of POST /v1/ask."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(description="At most 500 characters after normalisation.")
    language: str | None = Field(
        None, pattern="^[a-z]{2}$", description="Search only articles in this language."
    )


class FeedbackRequest(BaseModel):
    """Body of POST /v1/feedback."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(max_length=64, description="The id of the outcome.")
    vote: Literal["up", "down"]
    reasons: list[Literal["wrong", "incomplete", "off_topic", "citation", "other"]] = Field(
        default_factory=list, max_length=5
    )
    note: str = Field("", max_length=1000)


class CitationOut(BaseModel):
    """A quote and the address that opens it."""

    n: int = Field(description="Number of the cited section, 1, 2 … in order of first use.")
    title: str
    section: str
    url: str
    quote: str


class StatementOut(BaseModel):
    """One sentence, list item or code block with its citations."""

    text: str
    kind: Literal["sentence", "list_item", "code"]
    citations: list[CitationOut]


class RelatedOut(BaseModel):
    """A section to read where there is no answer."""

    title: str
    section: str
    url: str


class UsageOut(BaseModel):
    """What the question cost."""

    input_tokens: int
    output_tokens: int
    cost_usd: float


class OutcomeOut(BaseModel):
    """How a question ended."""

    id: str
    outcome: Literal["answer", "abstention", "refusal"]
    written_by: Literal["claude", "quotes"] | None = None
    why: str | None = None
    message: str | None = None
    statements: list[StatementOut] = Field(default_factory=list)
    related: list[RelatedOut] = Field(default_factory=list)
    seconds: dict[str, float]
    usage: UsageOut


class ExcerptOut(BaseModel):
    """A search hit."""

    title: str
    section: str
    slug: str
    anchor: str
    url: str
    text: str
    cosine: float
    bm25: float = Field(description="Of the words in the chunk; 0 without lexical search.")
    article_bm25: float = Field(description="Of the words in the whole article.")
    score: float = Field(description="What ranked it.")
    start: int
    end: int


class SearchOut(BaseModel):
    """What GET /v1/search gives: the excerpts, best first, and the floor they passed."""

    floor: float
    excerpts: list[ExcerptOut]


class Problem(BaseModel):
    """RFC 9457 problem details; `code` is stable."""

    type: str
    title: str
    status: int
    detail: str
    code: str


@dataclass(slots=True)
class Presenter:
    """Statements and citations as the reader gets them, numbered by cited section."""

    url_template: str
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)

    def statement(self, statement: Statement) -> StatementOut:
        """The statement with its numbered citations."""
        return StatementOut(
            text=statement.text,
            kind=statement.kind.value,
            citations=[self._citation(c) for c in statement.citations],
        )

    def _citation(self, citation: Citation) -> CitationOut:
        chunk = citation.excerpt.chunk
        number = self._numbers.setdefault((chunk.slug, chunk.anchor), len(self._numbers) + 1)
        return CitationOut(
            n=number,
            title=citation.excerpt.title,
            section=citation.excerpt.section,
            url=citation_url(self.url_template, citation),
            quote=citation.quote,
        )


def related_out(excerpt: Excerpt, url_template: str) -> RelatedOut:
    """A section to offer."""
    return RelatedOut(
        title=excerpt.title, section=excerpt.section, url=section_url(url_template, excerpt)
    )


def excerpt_out(excerpt: Excerpt, url_template: str) -> ExcerptOut:
    """A search hit with its address."""
    chunk = excerpt.chunk
    return ExcerptOut(
        title=excerpt.title,
        section=excerpt.section,
        slug=chunk.slug,
        anchor=chunk.anchor,
        url=section_url(url_template, excerpt),
        text=chunk.text,
        cosine=excerpt.cosine,
        bm25=excerpt.bm25,
        article_bm25=excerpt.article_bm25,
        score=excerpt.cosine if excerpt.score is None else excerpt.score,
        start=chunk.start,
        end=chunk.end,
    )


def outcome_out(trace: Trace, url_template: str) -> OutcomeOut:
    """The JSON outcome: the same for HTTP, events and the command line."""
    out = OutcomeOut(
        id=trace.id,
        outcome="answer",
        seconds={stage: round(s, 4) for stage, s in trace.seconds.items()},
        usage=UsageOut(
            input_tokens=sum(u.input_tokens for u in trace.usage),
            output_tokens=sum(u.output_tokens for u in trace.usage),
            cost_usd=sum(u.cost_usd for u in trace.usage),
        ),
    )
    match trace.outcome:
        case Answer() as answer:
            presenter = Presenter(url_template)
            out.written_by = answer.written_by.value
            out.why = answer.why
            out.message = prompts.QUOTES_MESSAGES[answer.why] if answer.why else None
            out.statements = [presenter.statement(s) for s in answer.statements]
        case Abstention() as abstention:
            out.outcome = "abstention"
            out.why = abstention.why.value
            out.message = prompts.ABSTENTION_MESSAGES[abstention.why]
            out.related = [related_out(e, url_template) for e in abstention.related]
        case Refusal() as refusal:
            out.outcome = "refusal"
            out.why = refusal.rule.value
            out.message = prompts.REFUSAL_MESSAGES[refusal.rule]
    return out
