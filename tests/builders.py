"""Values with sensible defaults; every test overrides only what it is about."""

from __future__ import annotations

from collections.abc import Sequence

from service.ask.answer import AnswerConfig, citable
from service.ask.grade import GradeConfig
from service.ask.guard_input import GuardInputConfig
from service.ask.pipeline import AskConfig
from service.ask.retrieve import RetrieveConfig
from service.types import (
    Article,
    Block,
    BlockKind,
    Chunk,
    Draft,
    Excerpt,
    Retrieval,
    Section,
    SpanCited,
    StatementKind,
)


def make_chunk(
    text: str = "The floor is a cosine. It was calibrated on questions.",
    *,
    slug: str = "floor",
    anchor: str = "the-floor",
    heading_path: Sequence[str] = ("The floor",),
    position: int = 0,
    start: int = 0,
) -> Chunk:
    return Chunk(
        id=f"{slug}-{position}",
        slug=slug,
        position=position,
        anchor=anchor,
        heading_path=tuple(heading_path),
        start=start,
        end=start + len(text),
        text=text,
        tokens=len(text.split()) + 2,
    )


def make_excerpt(
    text: str = "The floor is a cosine. It was calibrated on questions.",
    *,
    cosine: float = 0.6,
    title: str = "How retrieval works",
    slug: str = "floor",
    anchor: str = "the-floor",
    heading_path: Sequence[str] = ("The floor",),
    position: int = 0,
    start: int = 0,
) -> Excerpt:
    chunk = make_chunk(
        text,
        slug=slug,
        anchor=anchor,
        heading_path=heading_path,
        position=position,
        start=start,
    )
    return Excerpt(chunk=chunk, title=title, language="en", cosine=cosine)


def make_retrieval(*excerpts: Excerpt, floor: float = 0.3) -> Retrieval:
    return Retrieval(candidates=excerpts, excerpts=excerpts, floor=floor)


def cite(excerpt: Excerpt, quoted: str, *, index: int = 0) -> SpanCited:
    """What Claude sends when it cites the units of `excerpt` that make up `quoted`."""
    source = citable(excerpt)
    text = excerpt.chunk.text
    at = text.index(quoted)
    units = [i for i, (s, e) in enumerate(source.units) if s < at + len(quoted) and e > at]
    first, last = units[0], units[-1] + 1
    cited = text[source.units[first][0] : source.units[last - 1][1]]
    return SpanCited(source_index=index, source_id=source.id, first=first, last=last, quoted=cited)


def make_draft(text: str, *cited: SpanCited, kind: StatementKind = StatementKind.SENTENCE) -> Draft:
    return Draft(text=text, kind=kind, cited=cited)


def make_article(
    *sections: tuple[str, Sequence[str]], slug: str = "a", title: str = "A"
) -> Article:
    """An article of (heading, paragraphs); a heading of "" is the introduction."""
    text, found, blocks = "", [], []
    for heading, paragraphs in sections:
        start = len(text)
        if heading:
            blocks.append(Block(kind=BlockKind.HEADING, start=start, end=start + 3 + len(heading)))
            text += f"## {heading}\n\n"
        for paragraph in paragraphs:
            kind = BlockKind.CODE if paragraph.startswith("```") else BlockKind.PROSE
            blocks.append(Block(kind=kind, start=len(text), end=len(text) + len(paragraph)))
            text += f"{paragraph}\n\n"
        found.append((heading, start))
    ends = [*(start for _, start in found[1:]), len(text)][: len(found)]
    return Article(
        slug=slug,
        title=title,
        text=text,
        sections=tuple(
            Section(
                anchor=heading.lower().replace(" ", "-"),
                heading=heading or title,
                level=2 if heading else 0,
                heading_path=(heading,) if heading else (),
                start=start,
                end=end,
            )
            for (heading, start), end in zip(found, ends, strict=True)
        ),
        blocks=tuple(blocks),
    )


def make_ask_config(*, floor: float = 0.3, top_k: int = 6, max_per_article: int = 3) -> AskConfig:
    return AskConfig(
        retrieve=RetrieveConfig(floor=floor, top_k=top_k, max_per_article=max_per_article),
        grade=GradeConfig(model="claude-haiku-5-5"),
        answer=AnswerConfig(model="claude-sonnet-5-5"),
        guard_input=GuardInputConfig(),
    )
