"""An answer without a model: the best-matching sentences of the best sections, word for word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.ask.retrieve import related_sections
from service.ask.segments import SegmentKind, list_marker_end, segments, sentences
from service.ports import Embedder
from service.types import (
    Answer,
    Citation,
    Excerpt,
    Question,
    QuotesBecause,
    Retrieval,
    Statement,
    StatementKind,
    Vector,
    WrittenBy,
)

_SECTIONS = 3  # chosen, not measured
_PER_SECTION = 2  # chosen, not measured
_MIN_CHARS, _MAX_CHARS = 20, 600  # shorter says nothing, longer is no passage to read
_MARGIN = 0.15  # a second quote of a section may be this much further away; chosen, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    excerpt: Excerpt
    start: int  # characters into the chunk's text
    end: int
    kind: StatementKind
    code: tuple[int, int] | None  # the code block it introduces

    @property
    def text(self) -> str:
        return self.excerpt.chunk.text[self.start : self.end].strip()


def _passages(excerpt: Excerpt) -> list[_Passage]:
    text = excerpt.chunk.text
    parts = segments(text, starts_in_code=excerpt.chunk.starts_in_code)
    found = []
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        if part.kind in (SegmentKind.CODE, SegmentKind.HEADING, SegmentKind.ROW):
            continue
        spans = sentences(text, part, excerpt.language)
        introduces = following is not None and following.kind is SegmentKind.CODE
        for start, end in spans:
            last = (start, end) == spans[-1]
            code = (following.start, following.end) if following and introduces and last else None
            kind = (
                StatementKind.LIST_ITEM
                if part.kind is SegmentKind.ITEM and len(spans) == 1
                else StatementKind.SENTENCE
            )
            found.append(_Passage(excerpt=excerpt, start=start, end=end, kind=kind, code=code))
    return [p for p in found if _MIN_CHARS <= len(p.text) <= _MAX_CHARS] or _whole(excerpt)


def _whole(excerpt: Excerpt) -> list[_Passage]:
    """Nothing but code, a table or a heading: the excerpt speaks as it is."""
    text = excerpt.chunk.text
    return [_Passage(excerpt=excerpt, start=0, end=len(text), kind=StatementKind.CODE, code=None)]


def _cosine(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _best(passages: Sequence[_Passage], scores: Sequence[float]) -> list[_Passage]:
    """The passages nearest to the question, in the order in which they stand."""
    ranked = sorted(zip(scores, passages, strict=True), key=lambda pair: -pair[0])
    near = [p for score, p in ranked[:_PER_SECTION] if score >= ranked[0][0] - _MARGIN]
    return sorted(near, key=lambda p: p.start)


def _statements(passage: _Passage) -> list[Statement]:
    chunk = passage.excerpt.chunk
    spans = [(passage.start, passage.end, passage.kind)]
    if passage.code and passage.text.endswith(":"):
        spans.append((*passage.code, StatementKind.CODE))
    made = []
    for start, end, kind in spans:
        raw = chunk.text[start:end]
        start += len(raw) - len(raw.lstrip())
        start += list_marker_end(chunk.text[start:end])
        end -= len(raw) - len(raw.rstrip())
        citation = Citation(
            excerpt=passage.excerpt, start=chunk.start + start, end=chunk.start + end
        )
        text = citation.quote if kind is StatementKind.CODE else " ".join(citation.quote.split())
        made.append(Statement(text=text, kind=kind, citations=(citation,)))
    return made


async def quote(
    question: Question, retrieval: Retrieval, *, embedder: Embedder, why: QuotesBecause
) -> Answer:
    """Quotes from the nearest sections. `retrieval.excerpts` must not be empty."""
    passages = [_passages(e) for e in related_sections(retrieval.excerpts, _SECTIONS)]
    wanted = await embedder.embed_query(question.text)
    texts = [p.text for group in passages for p in group]
    scores = iter([_cosine(wanted, v) for v in await embedder.embed_passages(texts)])
    chosen = [_best(group, [next(scores) for _ in group]) for group in passages]
    statements = [s for group in chosen for passage in group for s in _statements(passage)]
    return Answer(statements=tuple(statements), written_by=WrittenBy.QUOTES, why=why)
