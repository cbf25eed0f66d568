"""Other ways to cut an article, for the chunking experiment. All give exact slices.

They cut where their rule says, whatever stands there; anchor and heading path are those of the
section in which a slice begins. Only `token`, the service's own, knows the model's limit.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from service.ports import Chunker
from service.types import Article, BlockKind, Chunk

Span = tuple[int, int]
Cutter = Callable[[Article], Iterator[Span]]

_V4_CHARS = 1500  # what the character chunker that came before this one used
_SENTENCE_END = re.compile(r"[.!?]\s|\n")


def windows(size: int, overlap: int) -> Cutter:
    """Every `size` characters, each slice repeating the last `overlap` of the one before."""

    def cut(article: Article) -> Iterator[Span]:
        for start in range(0, len(article.text), size - overlap):
            yield start, min(len(article.text), start + size)
            if start + size >= len(article.text):
                return

    return cut


def characters_v4(article: Article) -> Iterator[Span]:
    """Up to 1,500 characters, cut back to the last end of a sentence or line."""
    start = 0
    while start < len(article.text):
        end = min(len(article.text), start + _V4_CHARS)
        if end < len(article.text):
            ends = [m.end() for m in _SENTENCE_END.finditer(article.text, start, end)]
            end = ends[-1] if ends else end
        yield start, end
        start = end


def paragraphs(size: int) -> Cutter:
    """Whole blocks packed up to `size` characters, across headings; a longer block stays whole."""

    def cut(article: Article) -> Iterator[Span]:
        current: Span | None = None
        for block in article.blocks:
            if current is not None and block.end - current[0] <= size:
                current = (current[0], block.end)
                continue
            if current is not None:
                yield current
            current = (block.start, block.end)
        if current is not None:
            yield current

    return cut


def sections(size: int) -> Cutter:
    """Whole sections; one over `size` characters is packed block by block."""

    def cut(article: Article) -> Iterator[Span]:
        for section in article.sections:
            own = [b for b in article.blocks if section.start <= b.start < section.end]
            current: Span | None = None
            for block in own:
                if current is not None and block.end - current[0] <= size:
                    current = (current[0], block.end)
                    continue
                if current is not None:
                    yield current
                current = (block.start, block.end)
            if current is not None:
                yield current

    return cut


CUTTERS: dict[str, Cutter] = {
    "characters-v4": characters_v4,
    "fixed-500-50": windows(500, 50),
    "fixed-1000-100": windows(1000, 100),
    "fixed-2000-200": windows(2000, 200),
    "paragraph-1000": paragraphs(1000),
    "section-1500": sections(1500),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CutChunker:
    """Implements the port Chunker around a cutter."""

    name: str
    cutter: Cutter

    @property
    def id(self) -> str:
        """The experiment's name of the chunker."""
        return self.name

    def chunks(self, article: Article, *, site: str) -> tuple[Chunk, ...]:
        """Non-blank slices in order, each once: windows over white space may end up the same."""
        spans = (_trimmed(article.text, span) for span in self.cutter(article))
        kept = dict.fromkeys((start, end) for start, end in spans if start < end)
        return tuple(_chunk(article, span, position, site) for position, span in enumerate(kept))

    def embedded_text(self, chunk: Chunk, title: str) -> str:
        """`title > heading path` and the slice."""
        return f"{' > '.join([title, *chunk.heading_path])}\n{chunk.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutHeader:
    """Any chunker, its context header left away."""

    inner: Chunker

    @property
    def id(self) -> str:
        """The inner chunker's with a suffix."""
        return f"{self.inner.id}-noheader"

    def chunks(self, article: Article, *, site: str) -> tuple[Chunk, ...]:
        """As the inner chunker cuts."""
        return self.inner.chunks(article, site=site)

    def embedded_text(self, chunk: Chunk, title: str) -> str:
        """The chunk alone."""
        return chunk.text


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))


def _chunk(article: Article, span: Span, position: int, site: str) -> Chunk:
    start, end = span
    at = bisect_right([s.start for s in article.sections], start) - 1
    section = article.sections[max(0, at)]
    text = article.text[start:end]
    digest = hashlib.sha256(f"{site}\0{article.slug}\0{start}\0{text}".encode()).hexdigest()
    return Chunk(
        id=digest[:24],
        slug=article.slug,
        position=position,
        anchor=section.anchor,
        heading_path=section.heading_path,
        start=start,
        end=end,
        text=text,
        tokens=0,
        starts_in_code=any(
            b.kind is BlockKind.CODE and b.start < start < b.end for b in article.blocks
        ),
    )
