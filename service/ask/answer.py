"""The fourth stage: the model writes from citable sources; its text is cut into draft statements.

Nothing here is believed: a draft carries what the model said it cites, and guard_output decides.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

from service.ask import prompts
from service.ask.grade import label
from service.ask.segments import Segment, SegmentKind, citable_units, segments, sentences
from service.ports import Model
from service.types import (
    Draft,
    Excerpt,
    ModelReply,
    ModelRequest,
    Question,
    Source,
    SpanCited,
    StatementKind,
    TextPiece,
)

_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: JSON can carry it, UTF-8 cannot


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerConfig:
    """Knobs of the answerer."""

    model: str
    max_tokens: int = 2000  # chosen: a brief answer has some 300, the rest is room for thinking
    timeout_s: float = 60.0  # chosen, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class CitableExcerpt:
    """An excerpt with the units the model may cite: spans into the chunk's text."""

    excerpt: Excerpt
    units: tuple[tuple[int, int], ...]

    @property
    def id(self) -> str:
        """How the model names it: the section it stands in, and the chunk."""
        chunk = self.excerpt.chunk
        return f"{chunk.slug}#{chunk.anchor}@{chunk.position}"

    def source(self) -> Source:
        """As the model sees it."""
        text = self.excerpt.chunk.text
        return Source(
            id=self.id, title=label(self.excerpt), units=[text[s:e] for s, e in self.units]
        )


def citable(excerpt: Excerpt) -> CitableExcerpt:
    """The excerpt cut into sentences, list items, rows and code blocks."""
    chunk = excerpt.chunk
    units = citable_units(chunk.text, excerpt.language, starts_in_code=chunk.starts_in_code)
    return CitableExcerpt(excerpt=excerpt, units=tuple(units))


class Assembler:
    """Cuts a streamed answer into drafts, each with the citations of the pieces it spans.

    A statement is handed out once text beyond it has arrived, since only then is its end known.
    """

    def __init__(self) -> None:
        self._text = ""
        self._cited: list[tuple[int, int, tuple[SpanCited, ...]]] = []
        self._done = 0  # characters already handed out

    def feed(self, piece: TextPiece) -> list[Draft]:
        """Drafts that are complete now that `piece` has arrived."""
        start = len(self._text)
        text = _SURROGATE.sub("", piece.text)
        self._text += text
        if piece.cited:
            lead = len(text) - len(text.lstrip())
            self._cited.append((start + lead, start + len(text.rstrip()), piece.cited))
        return self._drafts(self._spans()[:-1])

    def finish(self) -> list[Draft]:
        """What is left when the model has finished."""
        return self._drafts(self._spans())

    def _spans(self) -> list[tuple[int, int, StatementKind]]:
        found = []
        for segment in segments(self._text):
            if segment.end > self._done:
                found += _statement_spans(self._text, segment)
        # a border may move as text arrives; what was handed out stays handed out
        return [(max(s, self._done), e, kind) for s, e, kind in found if e > self._done]

    def _drafts(self, spans: list[tuple[int, int, StatementKind]]) -> list[Draft]:
        drafts = []
        for start, end, kind in spans:
            self._done = end
            text = self._text[start:end].strip()
            if text:
                drafts.append(Draft(text=text, kind=kind, cited=self._citations(start, end)))
        return drafts

    def _citations(self, start: int, end: int) -> tuple[SpanCited, ...]:
        found = [c for s, e, cited in self._cited if s < end and e > start for c in cited]
        return tuple(dict.fromkeys(found))


def _statement_spans(text: str, segment: Segment) -> list[tuple[int, int, StatementKind]]:
    if segment.kind is SegmentKind.CODE:
        return [(segment.start, segment.end, StatementKind.CODE)]
    if segment.kind in (SegmentKind.ITEM, SegmentKind.ROW):
        return [(segment.start, segment.end, StatementKind.LIST_ITEM)]
    return [(s, e, StatementKind.SENTENCE) for s, e in sentences(text, segment)]


def declines(text: str) -> bool:
    """Whether the model says, in whatever company, that the sources don't answer."""
    return prompts.NO_ANSWER in text or text.strip(" .`*_\"'\n").upper() in (
        prompts.NO_ANSWER,
        "NO ANSWER",
    )


async def answer(
    question: Question, sources: tuple[CitableExcerpt, ...], *, model: Model, config: AnswerConfig
) -> AsyncIterator[Draft | ModelReply]:
    """Drafts as they are completed, then the whole reply. Raises as `Model.stream` does."""
    request = ModelRequest(
        purpose="answer",
        model=config.model,
        system=prompts.ANSWER_SYSTEM,
        sources=tuple(s.source() for s in sources),
        prompt=prompts.answer_prompt(question.text),
        max_tokens=config.max_tokens,
        timeout_s=config.timeout_s,
    )
    assembler = Assembler()
    async for event in model.stream(request):
        if isinstance(event, ModelReply):
            for draft in assembler.finish():
                yield draft
            yield event
        else:
            for draft in assembler.feed(event):
                yield draft
