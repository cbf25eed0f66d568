"""python -m evals retrieval: the measures of one run, as JSON and as a table."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.floor import calibrated_floor, floor_table
from evals.metrics import (
    evidence_recall_at_k,
    mean,
    ndcg_at_k,
    percentile,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
    section_hit_at_k,
    top_cosine,
)
from evals.types import Dataset, EvalQuestion, Hit, Ranked
from service.ask.retrieve import RetrieveConfig

ROOT = Path(__file__).parents[1]

Measure = Callable[[EvalQuestion, Sequence[Hit]], float | None]

MEASURES: dict[str, Measure] = {
    "recall@1": lambda q, hits: recall_at_k(q, hits, 1),
    "recall@3": lambda q, hits: recall_at_k(q, hits, 3),
    "recall@6": lambda q, hits: recall_at_k(q, hits, 6),
    "mrr": lambda q, hits: reciprocal_rank(q, hits, 10),
    "ndcg@10": lambda q, hits: ndcg_at_k(q, hits, 10),
    "section_hit@6": lambda q, hits: section_hit_at_k(q, hits, 6),
    "evidence_recall@5": lambda q, hits: evidence_recall_at_k(q, hits, 5),
    "precision@5": lambda q, hits: precision_at_k(q, hits, 5),
}


def summary(ranked: Sequence[Ranked]) -> dict[str, Any]:
    """The measures of one configuration over its questions."""
    floor = calibrated_floor(ranked)
    metrics = {
        name: mean([measure(r.question, r.hits) for r in ranked])
        for name, measure in MEASURES.items()
    }
    strangers = [r for r in ranked if not r.question.is_answerable]
    metrics["no_answer_fp"] = (
        mean([float(top_cosine(r.candidates) >= floor) for r in strangers])
        if floor is not None
        else None
    )
    metrics["chars@5"] = mean([float(sum(h.end - h.start for h in r.hits[:5])) for r in ranked])
    milliseconds = [1000 * r.seconds for r in ranked]
    return {
        "metrics": metrics,
        "calibrated_floor": floor,
        "floor_table": [asdict(row) for row in floor_table(ranked)],
        "latency_ms": {
            "p50": percentile(milliseconds, 0.5),
            "p95": percentile(milliseconds, 0.95),
        },
        "n": {"answerable": len(ranked) - len(strangers), "no_answer": len(strangers)},
    }


def per_question(ranked: Sequence[Ranked]) -> list[dict[str, Any]]:
    """Every question with its scores and what was found."""
    return [
        {
            "id": r.question.id,
            "question": r.question.text,
            "type": r.question.type.value,
            "expected": list(r.question.slugs),
            "scores": {name: measure(r.question, r.hits) for name, measure in MEASURES.items()},
            "hits": [
                {
                    "slug": h.slug,
                    "anchor": h.anchor,
                    "cosine": round(h.cosine, 6),
                    "chars": h.end - h.start,
                }
                for h in r.hits
            ],
        }
        for r in ranked
    ]


def provenance(dataset: Dataset, index_id: str, config: RetrieveConfig) -> dict[str, Any]:
    """What the numbers belong to."""
    return {
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "index_id": index_id,
        "dataset_sha256": dataset.sha256,
        "config": asdict(config),
        "python": platform.python_version(),
    }


def commit() -> str:
    """The checkout's commit, or "unknown" outside of one."""
    try:
        result = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return result.stdout.strip()
