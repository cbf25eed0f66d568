"""python -m evals mine: readers' questions that went badly, as candidates for the question set.

Read-only. A person fills in type, slugs, anchors and evidence; nothing here guesses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import yaml

from service.ask.guard_input import masked, personal_data
from service.ports import Embedder
from service.store.asks import PoorlyAnswered
from service.types import Vector

SAME_QUESTION = 0.9  # cosine from which two questions are taken for one; chosen, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One question, near-duplicates folded into it."""

    question: str
    times: int
    why: str


async def candidates(
    asked: Iterable[PoorlyAnswered], known: Sequence[str], *, embedder: Embedder
) -> list[Candidate]:
    """Distinct questions, most asked first, without those that the set already has."""
    known_vectors = [await embedder.embed_query(text) for text in known]
    groups: list[tuple[Vector, list[PoorlyAnswered]]] = []
    for row in asked:
        vector = await embedder.embed_query(row.question)
        if any(_cosine(vector, other) >= SAME_QUESTION for other in known_vectors):
            continue
        near = next((g for v, g in groups if _cosine(vector, v) >= SAME_QUESTION), None)
        if near is None:
            groups.append((vector, [row]))
        else:
            near.append(row)
    found = [_candidate(rows) for _, rows in groups]
    return sorted(found, key=lambda c: -c.times)


def _candidate(rows: Sequence[PoorlyAnswered]) -> Candidate:
    first = rows[0]
    text = masked(first.question, personal_data(first.question))
    return Candidate(question=text, times=len(rows), why=_why(first))


def _why(row: PoorlyAnswered) -> str:
    """An answer's own `why` says who wrote it, not what was wrong with it."""
    if row.outcome == "answer" and row.top_cosine is not None:
        return f"answered at a cosine of {row.top_cosine:.2f}"
    return row.why or row.outcome


def _cosine(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def as_yaml(found: Sequence[Candidate]) -> str:
    """Entries for questions.yaml whose labels are left to a person."""
    entries: list[dict[str, object]] = [
        {
            "id": f"mined-{number:03}",
            "question": c.question,
            "type": None,
            "tags": [],
            "slugs": [],
            "anchors": [],
            "match": "any",
            "evidence": [],
            "source": f"asked {c.times} times, {c.why}",
            "split": None,
        }
        for number, c in enumerate(found, start=1)
    ]
    return yaml.safe_dump(entries, sort_keys=False, allow_unicode=True) if entries else "[]\n"
