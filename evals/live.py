"""python -m evals live: the labelled questions against the live index, kept for the dashboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evals.dataset import DatasetError, load_dataset
from evals.retrieval import summary
from evals.search import EvalIndex, rank
from service.app import App
from service.errors import ContentError
from service.ingest.source import Source, read_source


async def live(app: App, source: Source, questions: Path) -> dict[str, Any]:
    """Measures of the index that readers are being answered from; one row is kept.

    Labels are held against the folder: where the live index has fallen behind it, expected
    articles are missing, and that is what the figures then show.
    """
    folder = read_source(source)
    if folder.failures:
        raise ContentError(f"not measured: {folder.failures[0].message}")
    dataset = load_dataset(questions, folder.articles)
    if not any(question.is_answerable for question in dataset.questions):
        raise DatasetError(f"{questions}: no answerable question: there is no recall to measure")
    opened = EvalIndex(
        corpus=app.index.corpus,
        embedder=app.deps.embedder,
        articles=folder.articles,
        site=app.settings.site,
    )
    ranked = await rank(dataset.questions, opened=opened, config=app.ask_config.retrieve)
    figures = summary(ranked)
    stats = await app.index.corpus.stats(site=app.settings.site)
    await app.eval_runs.record(
        site=app.settings.site,
        index_id=stats.index_id or "",
        dataset_sha256=dataset.sha256,
        answerable=figures["n"]["answerable"],
        metrics=figures["metrics"],
    )
    return figures
