"""What happened to one question, as it is stored: enough to see later why it ended as it did.

No text of an article is kept: excerpts are named by article, section and span.
"""

from __future__ import annotations

import hashlib
from typing import Any

from service.ask import prompts
from service.types import Excerpt, Grading, Trace


def prompts_version() -> str:
    """A hash of every prompt: answers of another version were written under other orders."""
    text = prompts.GRADE_SYSTEM + "\0" + prompts.ANSWER_SYSTEM
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def receipt(trace: Trace) -> dict[str, Any]:
    """The trace without its texts."""
    found = trace.retrieval
    return {
        "prompts": prompts_version(),
        "floor": found.floor if found else None,
        "excerpts": [_excerpt(e, trace.grading) for e in found.excerpts] if found else [],
        "sufficient": trace.grading.sufficient if trace.grading else None,
        "dropped": [{"reason": d.reason.value, "text": d.text} for d in trace.dropped],
        "usage": [
            {
                "model": u.model,
                "input_tokens": u.input_tokens,
                "output_tokens": u.output_tokens,
                "cost_usd": u.cost_usd,
            }
            for u in trace.usage
        ],
    }


def _excerpt(excerpt: Excerpt, grading: Grading | None) -> dict[str, Any]:
    chunk = excerpt.chunk
    grades = grading.grades if grading else ()
    grade = next((g.relevance for g in grades if g.excerpt.chunk.id == chunk.id), None)
    return {
        "slug": chunk.slug,
        "anchor": chunk.anchor,
        "start": chunk.start,
        "end": chunk.end,
        "cosine": round(excerpt.cosine, 4),
        "bm25": round(excerpt.bm25, 3),
        "article_bm25": round(excerpt.article_bm25, 3),
        "score": None if excerpt.score is None else round(excerpt.score, 4),
        "relevance": None if grade is None else int(grade),
    }
