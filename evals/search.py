"""Runs the service's own retrieve() over a question set: a throw-away index, no key, no server."""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evals.configs import chunker_of
from evals.embedders import CachedEmbedder, CuttingEmbedder, HashEmbedder
from evals.types import EvalQuestion, Hit, Ranked
from service.app import OpenIndex, content_source, open_index
from service.ask.retrieve import RetrieveConfig, retrieve
from service.errors import ContentError
from service.ingest.pipeline import Progress, ingest
from service.ingest.source import Source, read_source
from service.ports import Corpus, Embedder
from service.settings import Settings
from service.types import Article, Excerpt, Question

Embeddings = Literal["onnx", "hash"]

NO_FLOOR = -1.0
SHOWN_CHARS = 200  # of a hit, in reports; enough to recognise it; chosen, not measured
RANKED = 10  # excerpts that are ranked for measuring; the service shows fewer of the same order


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalIndex:
    """Articles in an index, and what asks it."""

    corpus: Corpus
    embedder: Embedder
    articles: tuple[Article, ...]
    site: str

    def introductions(self) -> frozenset[tuple[str, str]]:
        """(slug, anchor) of the section before an article's first one below its title."""
        return frozenset(
            (a.slug, a.sections[0].anchor)
            for a in self.articles
            if a.sections and a.sections[0].level <= 1
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunked:
    """What one chunker made of the articles."""

    index: EvalIndex
    chunks: int
    cut: int  # chunks over the model's limit, of which only the beginning was embedded


class Workbench:
    """A throw-away Postgres with the articles, cut and embedded in any of the ways to compare."""

    def __init__(
        self, opened: OpenIndex, source: Source, articles: tuple[Article, ...], embedder: Embedder
    ) -> None:
        self.opened = opened
        self.articles = articles
        self._source = source
        self._embedder = embedder
        self._made: dict[str, Chunked] = {}

    async def chunked(self, chunker_name: str, progress: Progress) -> Chunked:
        """The articles as this chunker cuts them; made once."""
        if chunker_name not in self._made:
            self._made[chunker_name] = await self._ingest(chunker_name, progress)
        return self._made[chunker_name]

    async def _ingest(self, chunker_name: str, progress: Progress) -> Chunked:
        cutting = CuttingEmbedder(self._embedder, self.opened.embedder)
        deps = dataclasses.replace(
            self.opened.deps,
            embedder=cutting,
            chunker=chunker_of(chunker_name, self.opened.deps.chunker),
        )
        report = await ingest(self._source, site=chunker_name, deps=deps, progress=progress)
        index = EvalIndex(
            corpus=self.opened.corpus,
            embedder=self._embedder,
            articles=self.articles,
            site=chunker_name,
        )
        return Chunked(index=index, chunks=report.chunks, cut=cutting.cut)


@asynccontextmanager
async def open_workbench(
    settings: Settings, *, embeddings: Embeddings = "onnx"
) -> AsyncIterator[Workbench]:
    """Everything a measurement needs; the live index is never touched.

    Raises ContentError if any file cannot be read: a measurement over a part would mislead.
    """
    source = content_source(settings)
    folder = read_source(source)
    if folder.failures:
        raise ContentError(f"not measured: {folder.failures[0].message}")
    with tempfile.TemporaryDirectory(prefix="ask-blog-") as scratch:
        isolated = settings.model_copy(update={"database_url": None, "data_dir": Path(scratch)})
        async with open_index(isolated, models_dir=settings.models_dir) as opened:
            embedder: Embedder = (
                HashEmbedder()
                if embeddings == "hash"
                else CachedEmbedder(opened.embedder, settings.data_dir / "evals")
            )
            yield Workbench(opened, source, folder.articles, embedder)


async def rank(
    questions: Sequence[EvalQuestion], *, opened: EvalIndex, config: RetrieveConfig
) -> list[Ranked]:
    """What retrieve() finds for each question, without a floor and ten deep."""
    deep = dataclasses.replace(config, floor=NO_FLOOR, top_k=RANKED, depth=config.depth)
    introductions = opened.introductions()
    ranked = []
    for question in questions:
        started = time.perf_counter()
        found = await retrieve(
            Question.of(question.text),
            site=opened.site,
            embedder=opened.embedder,
            corpus=opened.corpus,
            config=deep,
        )
        seconds = time.perf_counter() - started
        ranked.append(
            Ranked(
                question=question,
                hits=tuple(_hit(e, introductions) for e in found.excerpts),
                candidates=tuple(_hit(e, introductions) for e in found.candidates),
                seconds=seconds,
            )
        )
    return ranked


def _hit(excerpt: Excerpt, introductions: frozenset[tuple[str, str]]) -> Hit:
    chunk = excerpt.chunk
    return Hit(
        slug=chunk.slug,
        anchor=chunk.anchor,
        start=chunk.start,
        end=chunk.end,
        cosine=excerpt.cosine,
        is_introduction=(chunk.slug, chunk.anchor) in introductions,
        text=chunk.text[:SHOWN_CHARS],
    )
