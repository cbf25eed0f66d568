"""python -m evals speed: ingest and search as ratios to the bare model, measured in turn.

Absolute times belong to a machine and its load; a ratio within one run says what our own code
adds. Postgres, the tokenizer and the model are the real ones.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from evals.metrics import percentile
from evals.search import Workbench
from service.ask.retrieve import RetrieveConfig, retrieve
from service.embedder import BATCH, batches
from service.ingest.pipeline import Progress, ingest
from service.ingest.source import Source
from service.types import Question

_ROUNDS = 3  # of ingest; the median ratio is quoted
_SEARCHES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Seconds and ratios of one run."""

    chunks: int
    ingest_s: float
    bare_forward_s: float
    ingest_ratio: float  # wall time of an ingest / bare forward time over the same chunks
    search_p50_ms: float
    search_p95_ms: float
    bare_query_p50_ms: float
    bare_query_p95_ms: float
    search_p95_ratio: float
    peak_memory_mb: float


async def measure(bench: Workbench, source: Source) -> Speed:
    """All figures; ingest and forward, search and bare query by turns."""
    rounds = [await _ingest_round(bench, source, n) for n in range(_ROUNDS)]
    ingest_s, bare_s, _ = sorted(rounds, key=lambda r: r[0] / r[1])[len(rounds) // 2]
    searches, bare = await _search_times(bench)
    return Speed(
        chunks=rounds[0][2],
        ingest_s=ingest_s,
        bare_forward_s=bare_s,
        ingest_ratio=statistics.median(i / b for i, b, _ in rounds),
        search_p50_ms=percentile(searches, 0.5),
        search_p95_ms=percentile(searches, 0.95),
        bare_query_p50_ms=percentile(bare, 0.5),
        bare_query_p95_ms=percentile(bare, 0.95),
        search_p95_ratio=percentile(searches, 0.95) / percentile(bare, 0.95),
        peak_memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


async def _ingest_round(bench: Workbench, source: Source, number: int) -> tuple[float, float, int]:
    """Seconds of a whole ingest into a new site, of the bare forward passes, and the chunks."""
    deps = bench.opened.deps
    started = time.perf_counter()
    report = await ingest(source, site=f"speed-{number}", deps=deps, progress=Progress())
    ingest_s = time.perf_counter() - started
    texts = {
        deps.chunker.embedded_text(chunk, article.title)
        for article in bench.articles
        for chunk in deps.chunker.chunks(article, site="s")
    }
    embedder = bench.opened.embedder
    ids = embedder.tokenizer.ids(sorted(texts))
    started = time.perf_counter()
    for batch in batches([len(tokens) for tokens in ids], BATCH):
        embedder.forward([ids[i] for i in batch])
    return ingest_s, time.perf_counter() - started, report.chunks


async def _search_times(bench: Workbench) -> tuple[list[float], list[float]]:
    """Milliseconds of whole searches and of bare query embeddings, over the articles' headings."""
    embedder = bench.opened.embedder
    config = RetrieveConfig(floor=-1.0)
    headings = [f"How does {s.heading} work?" for a in bench.articles for s in a.sections]
    searches, bare = [], []
    for n in range(_SEARCHES):
        text = headings[n % len(headings)]
        [ids] = embedder.tokenizer.ids([text])
        bare.append(await _ms(partial(_later, embedder.forward, [ids])))
        search = partial(
            retrieve,
            Question.of(text),
            site="speed-0",
            embedder=embedder,
            corpus=bench.opened.corpus,
            config=config,
        )
        searches.append(await _ms(search))
    return searches, bare


async def _later(function: Callable[..., object], argument: Sequence[list[int]]) -> object:
    return function(argument)


async def _ms(work: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await work()
    return 1000 * (time.perf_counter() - started)
