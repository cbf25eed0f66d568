"""Runs the service's own retrieve() over a question set: a throw-away index, no key, no server."""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from evals.types import EvalQuestion, Hit, Ranked
from service.app import OpenIndex, open_index
from service.ask.retrieve import RetrieveConfig, retrieve
from service.errors import ContentError
from service.ingest.articles import read_folder
from service.ingest.pipeline import Progress, ingest
from service.ingest.source import Source
from service.settings import Settings
from service.types import Article, Excerpt, Question

NO_FLOOR = -1.0
SHOWN_CHARS = 200  # of a hit, in reports; enough to recognise it; chosen, not measured
RANKED = 10  # excerpts that are ranked for measuring; the service shows fewer of the same order


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalIndex:
    """Articles in an index that is thrown away afterwards."""

    index: OpenIndex
    articles: tuple[Article, ...]
    site: str

    def introductions(self) -> frozenset[tuple[str, str]]:
        """(slug, anchor) of the section before an article's first one below its title."""
        return frozenset(
            (a.slug, a.sections[0].anchor)
            for a in self.articles
            if a.sections and a.sections[0].level <= 1
        )


@asynccontextmanager
async def open_eval_index(
    content: Path, settings: Settings, progress: Progress
) -> AsyncIterator[EvalIndex]:
    """Ingest the folder into a new embedded Postgres; the live index is never touched.

    Raises ContentError if any file cannot be read: a measurement over a part would mislead.
    """
    folder = read_folder(content)
    if folder.failures:
        raise ContentError(f"not measured: {folder.failures[0].message}")
    with tempfile.TemporaryDirectory(prefix="ask-blog-") as scratch:
        isolated = settings.model_copy(
            update={"database_url": None, "data_dir": Path(scratch), "site": "eval"}
        )
        async with open_index(isolated, models_dir=settings.models_dir) as index:
            await ingest(Source(folder=content), site="eval", deps=index.deps, progress=progress)
            yield EvalIndex(index=index, articles=folder.articles, site="eval")


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
            embedder=opened.index.embedder,
            corpus=opened.index.corpus,
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
