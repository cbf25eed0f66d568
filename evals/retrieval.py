"""python -m evals retrieval: the measures of one run, as JSON and as a table."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.embedders import HashEmbedder
from evals.floor import (
    augrc,
    auroc,
    calibrated_floor,
    floor_rates,
    floor_table,
    risk_coverage,
)
from evals.metrics import (
    best_expected_cosine,
    chars_at_k,
    evidence_recall_at_k,
    evidence_reciprocal_rank,
    hit_at_k,
    judged_at_k,
    mean,
    ndcg_at_k,
    percentile,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
    section_hit_at_k,
    top_cosine,
)
from evals.search import NO_FLOOR
from evals.statistics import clusters_of, wilson_interval
from evals.types import Dataset, EvalQuestion, Hit, Ranked
from service.app import shipped_index_id
from service.ask.retrieve import RetrieveConfig
from service.models import describe
from service.settings import Settings

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
    "evidence_hit@5": lambda q, hits: hit_at_k(q, hits, 5),
    "evidence_mrr@10": lambda q, hits: evidence_reciprocal_rank(q, hits, 10),
    "judged@6": lambda q, hits: judged_at_k(q, hits, 6),
}


def config_of(settings: Settings) -> RetrieveConfig:
    """The search as the service would run it, but without a floor."""
    return RetrieveConfig(
        floor=NO_FLOOR,
        top_k=settings.top_k,
        max_per_article=settings.max_per_article,
        mode=settings.rag_mode,
    )


def summary(ranked: Sequence[Ranked]) -> dict[str, Any]:
    """The measures of one configuration over its questions, with 95% intervals."""
    floor = calibrated_floor(ranked)
    milliseconds = [1000 * r.seconds for r in ranked]
    answerable = sum(r.question.is_answerable for r in ranked)
    return {
        **_figures(ranked, floor),
        "calibrated_floor": floor,
        "floor_table": [asdict(row) for row in floor_table(ranked)],
        "floor_quality": _floor_quality(ranked, floor),
        "latency_ms": {
            "p50": percentile(milliseconds, 0.5),
            "p95": percentile(milliseconds, 0.95),
        },
        "n": {"answerable": answerable, "no_answer": len(ranked) - answerable},
        "by_type": _by(ranked, floor, lambda q: (q.type.value,)),
        "by_tag": _by(ranked, floor, lambda q: q.tags),
    }


def _figures(ranked: Sequence[Ranked], floor: float | None) -> dict[str, Any]:
    """Means and intervals; a measure that no question is scored for is None, never 0."""
    metrics: dict[str, float | None] = {}
    intervals: dict[str, list[float] | None] = {}
    for name, score in _scorers(floor).items():
        scored = [(r.question.cluster, value) for r in ranked if (value := score(r)) is not None]
        metrics[name] = mean([value for _, value in scored])
        interval = wilson_interval(clusters_of(scored)) if scored else None
        intervals[name] = [interval.low, interval.high] if interval else None
    metrics["chars@5"] = mean([chars_at_k(r.hits, 5) for r in ranked])
    return {"metrics": metrics, "intervals": intervals}


def _scorers(floor: float | None) -> dict[str, Callable[[Ranked], float | None]]:
    """Every measure with a score within [0, 1] for a question."""

    def of_hits(measure: Measure) -> Callable[[Ranked], float | None]:
        return lambda r: measure(r.question, r.hits)

    def no_answer_fp(r: Ranked) -> float | None:
        if floor is None or r.question.is_answerable:
            return None
        return float(top_cosine(r.candidates) >= floor)

    return {name: of_hits(m) for name, m in MEASURES.items()} | {"no_answer_fp": no_answer_fp}


def _by(
    ranked: Sequence[Ranked],
    floor: float | None,
    names: Callable[[EvalQuestion], Iterable[str]],
) -> dict[str, Any]:
    """The figures of each group of questions; a question may belong to several."""
    groups: dict[str, list[Ranked]] = {}
    for r in ranked:
        for name in names(r.question):
            groups.setdefault(name, []).append(r)
    return {name: {"n": len(g), **_figures(g, floor)} for name, g in sorted(groups.items())}


def _floor_quality(ranked: Sequence[Ranked], floor: float | None) -> dict[str, Any]:
    """The top cosine as a detector. The floor's rates are on the questions it was chosen on."""
    points = risk_coverage(ranked)
    rates = floor_rates(ranked, floor) if floor is not None else None
    return {
        "auroc": auroc(ranked),
        "augrc": augrc(points),
        "false_refusal": rates.false_refusal if rates else None,
        "leak": rates.leak if rates else None,
        "risk_coverage": [asdict(point) for point in points],
    }


def per_question(ranked: Sequence[Ranked]) -> list[dict[str, Any]]:
    """Every question with its labels, its scores and what was found."""
    return [
        {
            "id": r.question.id,
            "question": r.question.text,
            "type": r.question.type.value,
            "tags": list(r.question.tags),
            "split": r.question.split,
            "expected": list(r.question.slugs),
            "sections": [{"slug": s.slug, "anchor": s.anchor} for s in r.question.sections],
            "evidence": [{"slug": e.slug, "quote": e.quote} for e in r.question.evidence],
            "scores": {name: measure(r.question, r.hits) for name, measure in MEASURES.items()},
            "best_expected_cosine": _rounded(best_expected_cosine(r.question, r.candidates)),
            "top_cosine": _rounded(top_cosine(r.candidates)),
            "seconds": r.seconds,
            "hits": [_hit(h) for h in r.hits],
        }
        for r in ranked
    ]


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "slug": hit.slug,
        "anchor": hit.anchor,
        "cosine": _rounded(hit.cosine),
        "chars": hit.end - hit.start,
        "text": hit.text,
    }


def _rounded(cosine: float | None) -> float | None:
    return None if cosine is None else round(cosine, 6)


def provenance(
    dataset: Dataset, settings: Settings, *, embeddings: str, split: str
) -> dict[str, Any]:
    """What the numbers belong to."""
    model = describe(settings.model)
    is_real = embeddings == "onnx"
    return {
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "embeddings": embeddings,
        "embedder": model.id if is_real else HashEmbedder.id,
        "embedder_sha256": model.files["model"].sha256 if is_real else None,
        "index_id": shipped_index_id(settings) if is_real else HashEmbedder.id,
        "dataset_sha256": dataset.sha256,
        "config": asdict(config_of(settings)),
        "split": split,
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
