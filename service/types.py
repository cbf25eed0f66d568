"""The nouns. Frozen values that travel between the stages; this module imports nothing of ours."""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TypeAlias

Vector: TypeAlias = "array[float]"
"""An embedding outside `embedder` and `store`: array("f"), float32[dimensions] of unit length."""

MAX_QUESTION_CHARS = 500  # chosen, not measured: the public contract of POST /v1/ask

_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn")
_JOINERS = "\u200c\u200d"  # they carry meaning in Persian, Indic scripts and emoji


def normalise(raw: str) -> str:
    """NFKC, without invisible characters, white space folded to single spaces and trimmed."""
    text = unicodedata.normalize("NFKC", raw)
    kept = (
        " " if ch.isspace() else ch
        for ch in text
        if ch.isspace() or ch in _JOINERS or unicodedata.category(ch) not in _INVISIBLE
    )
    folded = " ".join("".join(kept).split())
    return folded if folded.strip(_JOINERS + " ") else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the reader asked, normalised. Evals and readers see the same text."""

    text: str  # 1 to 500 characters; guard_input sees to it
    guarded: bool = False  # it may be an attack: answered in the articles' own words only

    @classmethod
    def of(cls, raw: str) -> Question:
        """Normalise `raw`; the length is not checked here."""
        return cls(text=normalise(raw))


# ---------------------------------------------------------------- an article's path


class BlockKind(StrEnum):
    """What a stretch of the cleaned text is, as the chunker and the sentence splitter need it."""

    HEADING = "heading"
    PROSE = "prose"
    LIST_ITEM = "list_item"
    CODE = "code"
    TABLE = "table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One heading, paragraph, list item, fenced code or table: a span of the cleaned text."""

    kind: BlockKind
    start: int  # characters into Article.text
    end: int  # exclusive


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and what follows it up to the next heading."""

    anchor: str  # the id in the built page; "" for the introduction before the first heading
    heading: str  # plain text; the article's title for the introduction
    level: int  # 1 to 6; 0 for the introduction
    heading_path: tuple[str, ...]  # from the outermost heading down to this one
    start: int  # of the heading line, characters into Article.text
    end: int  # exclusive; where the next heading line starts


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """One post, as readers see it: no front matter, imports, tags or hidden comments."""

    slug: str
    title: str
    text: str  # the cleaned text; every offset in this module counts its characters
    sections: tuple[Section, ...]  # in order, together covering the whole text
    blocks: tuple[Block, ...]  # in order, without overlap; the gaps are white space
    published: str | None = None  # ISO date, as the front matter says
    language: str = "en"  # BCP 47 primary tag
    page: str = ""  # the slug without its language, which translations share; "": the slug
    url: str | None = None  # where the site says it stands; else the URL template decides
    coverage: float = 1.0  # share of the source's words that the text has, 0 to 1
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The stored unit of retrieval: an exact slice of the cleaned text."""

    id: str  # deterministic: hash of site, slug, span and text
    slug: str
    position: int  # 0-based order in the article
    anchor: str
    heading_path: tuple[str, ...]
    start: int
    end: int
    text: str  # == Article.text[start:end]
    tokens: int  # of the embedded text: special tokens and context header included
    starts_in_code: bool = False  # a window of a fence that was opened in an earlier chunk


# ---------------------------------------------------------------- a question's path


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A chunk retrieved for this question."""

    chunk: Chunk
    title: str  # of the article
    language: str
    cosine: float  # in [-1, 1]
    bm25: float = 0.0  # of the chunk; 0 where lexical search did not run
    article_bm25: float = 0.0  # of the whole article
    score: float | None = None  # what ranked it; None: the cosine
    page: str = ""  # translations of one article share it; "": the slug
    url: str | None = None  # of the article, where the site itself says so

    @property
    def page_key(self) -> str:
        """What the per-article cap counts by."""
        return self.page or self.chunk.slug

    @property
    def section(self) -> str:
        """The heading the excerpt stands under, or the article's title."""
        return self.chunk.heading_path[-1] if self.chunk.heading_path else self.title


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexical:
    """The words of a question, and how much they weigh beside the cosine.

    score = cosine + chunk_weight * bm25 / its maximum + article_weight * article_bm25 / its maximum
    """

    terms: tuple[str, ...]
    chunk_weight: float
    article_weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """What the search found before and after floor and cap; evals need both."""

    candidates: tuple[Excerpt, ...]  # best first
    excerpts: tuple[Excerpt, ...]  # at most k, best first
    floor: float


class Relevance(IntEnum):
    """How far one excerpt answers the question; the scale of the graded labels."""

    NONE = 0
    RELATED = 1
    USEFUL = 2
    ANSWERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """The grader's judgement of one excerpt; `relevance` None means *ungraded*, never guessed."""

    excerpt: Excerpt
    relevance: Relevance | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """All grades of one question and whether the excerpts together suffice to answer it."""

    grades: tuple[Grade, ...]
    sufficient: bool | None  # None: the reply could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A verbatim span of an excerpt."""

    excerpt: Excerpt
    start: int  # characters into the article's cleaned text
    end: int

    @property
    def quote(self) -> str:
        """The quoted words, exactly as they stand in the article."""
        offset = self.excerpt.chunk.start
        return self.excerpt.chunk.text[self.start - offset : self.end - offset]


class StatementKind(StrEnum):
    """How a statement is laid out."""

    SENTENCE = "sentence"
    LIST_ITEM = "list_item"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence, list item or code block of an answer."""

    text: str
    kind: StatementKind
    citations: tuple[Citation, ...]


class WrittenBy(StrEnum):
    """Who put the statements together."""

    CLAUDE = "claude"
    QUOTES = "quotes"


class QuotesBecause(StrEnum):
    """Why an answer consists of quotes only."""

    NO_KEY = "no_key"
    BUDGET = "budget"
    UPSTREAM = "upstream"
    GUARDED = "guarded"


class AbstainedBecause(StrEnum):
    """Why the blog is taken not to say."""

    BELOW_FLOOR = "below_floor"
    NOT_RELEVANT = "not_relevant"
    MODEL_DECLINED = "model_declined"
    CITATIONS_FAILED = "citations_failed"


class Rule(StrEnum):
    """The named checks of guard_input."""

    EMPTY = "empty"
    TOO_LONG = "too_long"
    MALFORMED = "malformed"
    HIDDEN_TEXT = "hidden_text"
    INJECTION = "injection"
    PERSONAL_DATA = "personal_data"
    OFF_TOPIC = "off_topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Statements, each with at least one citation that was checked."""

    statements: tuple[Statement, ...]
    written_by: WrittenBy
    why: QuotesBecause | None = None  # set when, and only when, written_by is quotes

    def __post_init__(self) -> None:
        if not self.statements or not all(s.citations for s in self.statements):
            raise ValueError("an answer has statements and every statement has a citation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention:
    """The articles don't say."""

    why: AbstainedBecause
    related: tuple[Excerpt, ...]  # one per section, nearest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A guard stopped the question."""

    rule: Rule


Outcome = Answer | Abstention | Refusal


class DropReason(StrEnum):
    """Why guard_output kept a statement from the reader."""

    UNCITED = "uncited"
    FOREIGN_SOURCE = "foreign_source"
    QUOTE_MISMATCH = "quote_mismatch"
    DETAIL_MISMATCH = "detail_mismatch"
    EMPTY = "empty"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A statement the reader never saw, and why."""

    text: str
    reason: DropReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One call to a model, as it was billed."""

    model: str
    input_tokens: int  # cached ones included
    output_tokens: int  # thinking included
    cost_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Everything that happened to one question."""

    id: str
    question: Question
    outcome: Outcome
    retrieval: Retrieval | None = None
    grading: Grading | None = None
    dropped: tuple[Dropped, ...] = ()
    usage: tuple[Usage, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)  # by stage


class Stage(StrEnum):
    """The stages a reader may be told of."""

    GUARD_INPUT = "guard_input"
    RETRIEVE = "retrieve"
    GRADE = "grade"
    ANSWER = "answer"
    GUARD_OUTPUT = "guard_output"


# ---------------------------------------------------------------- talking to a model


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One excerpt as the model sees it: units that can be cited one by one."""

    id: str
    title: str
    units: Sequence[str]  # joined with nothing between they give the excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A call, free of any vendor's types."""

    purpose: str  # "grade" or "answer"; names the entry in the ledger
    model: str
    system: str
    sources: tuple[Source, ...]  # citable; empty where citations are not wanted
    prompt: str
    max_tokens: int  # output, thinking included
    timeout_s: float  # for the whole call
    schema: Mapping[str, object] | None = None  # JSON schema of the reply


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """A finished call."""

    text: str
    finish: str  # "end_turn", "max_tokens", "refusal" …
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanCited:
    """The model cites units [first, last) of a source for the text block being written."""

    source_index: int
    source_id: str
    first: int
    last: int
    quoted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    """A finished text block of a streamed answer with the citations it came with."""

    text: str
    cited: tuple[SpanCited, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A statement as the model wrote it, before guard_output has checked anything."""

    text: str
    kind: StatementKind
    cited: tuple[SpanCited, ...]
