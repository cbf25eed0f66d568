"""Run and qrels files as trec_eval and ir_measures read them; a document is a section.

A run has `question Q0 slug#anchor rank score configuration`, the qrels `question 0 slug#anchor 1`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evals.types import EvalQuestion, Hit, Ranked

QRELS = "qrels.txt"

Introductions = frozenset[tuple[str, str]]


def write_trec(directory: Path, ranked_by_config: Mapping[str, Sequence[Ranked]]) -> list[Path]:
    """One `NAME.run` for each configuration, and the qrels; the files' paths."""
    directory.mkdir(parents=True, exist_ok=True)
    every = [r for ranked in ranked_by_config.values() for r in ranked]
    introductions = _introductions(every)
    questions = {r.question.id: r.question for r in every}
    written = {f"{name}.run": run_lines(ranked, name) for name, ranked in ranked_by_config.items()}
    written[QRELS] = qrels_lines(list(questions.values()), introductions)
    for name, lines in written.items():
        (directory / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return [directory / name for name in written]


def run_lines(ranked: Sequence[Ranked], name: str) -> list[str]:
    """A section stands where its first excerpt does.

    The score is 1 / rank: trec_eval orders by score, and not every order here comes from a cosine.
    """
    lines = []
    for r in ranked:
        documents = dict.fromkeys(_document(hit) for hit in r.hits)
        lines += [
            f"{r.question.id} Q0 {document} {rank} {1 / rank:.6f} {name}"
            for rank, document in enumerate(documents, start=1)
        ]
    return lines


def qrels_lines(questions: Sequence[EvalQuestion], introductions: Introductions) -> list[str]:
    """Every labelled section is relevant; nothing else was judged."""
    return [
        f"{question.id} 0 {document} 1"
        for question in questions
        for document in dict.fromkeys(
            f"{s.slug}#{'' if (s.slug, s.anchor) in introductions else s.anchor}"
            for s in question.sections
        )
    ]


def _document(hit: Hit) -> str:
    return f"{hit.slug}#{'' if hit.is_introduction else hit.anchor}"


def _introductions(ranked: Sequence[Ranked]) -> Introductions:
    """Labels may name an introduction by its anchor or by none; the files always by none."""
    return frozenset((h.slug, h.anchor) for r in ranked for h in r.hits if h.is_introduction)
