"""Loads questions.yaml and holds every label against the articles; the first wrong one stops."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.types import Dataset, EvalQuestion, EvidenceSpan, QuestionType, SectionLabel
from service.calibration import articles_digest
from service.errors import AskBlogError
from service.types import MAX_QUESTION_CHARS, Article


class DatasetError(AskBlogError):
    """A question file is broken, or a label does not fit the articles."""

    code = "dataset"


class _Anchor(BaseModel):
    model_config = ConfigDict(extra="ignore")

    slug: str
    anchor: str | None = None


class _Evidence(BaseModel):
    model_config = ConfigDict(extra="forbid")

    slug: str
    quote: Annotated[str, Field(min_length=1)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str
    question: Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_CHARS)]
    type: QuestionType
    tags: list[str] = []
    slugs: list[str] = []
    anchors: list[_Anchor] = []
    match: Literal["any", "all"] = "any"
    evidence: list[_Evidence] = []
    split: Literal["dev", "heldout"]


def load_dataset(path: Path, articles: Sequence[Article]) -> Dataset:
    """Questions with checked labels, at least one of them without an answer.

    Raises DatasetError naming file, question and label.
    """
    rows = _rows(path)
    by_slug = {article.slug: article for article in articles}
    questions = tuple(_question(row, by_slug, path) for row in rows)
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise DatasetError(f"{path}: {question.id}: this id is used twice")
        seen.add(question.id)
    if all(question.is_answerable for question in questions):
        raise DatasetError(
            f"{path}: no question of type no-answer: nothing would show what the floor lets "
            "through; add some that the articles don't answer"
        )
    articles_sha256 = articles_digest((a.slug, a.text) for a in articles)
    digest = hashlib.sha256(path.read_bytes() + articles_sha256.encode())
    return Dataset(questions=questions, sha256=digest.hexdigest(), articles_sha256=articles_sha256)


def _rows(path: Path) -> list[_Row]:
    try:
        loaded = yaml.safe_load(path.read_text("utf-8"))
    except OSError as fault:
        raise DatasetError(f"{path}: {fault.strerror}; name a question file") from fault
    except (yaml.YAMLError, UnicodeDecodeError) as fault:
        raise DatasetError(f"{path}: not readable as YAML: {fault}") from fault
    if not isinstance(loaded, list) or not loaded:
        raise DatasetError(f"{path}: expected a list of questions")
    return [_row(entry, path, number) for number, entry in enumerate(loaded, start=1)]


def _row(entry: object, path: Path, number: int) -> _Row:
    name = entry.get("id", f"question {number}") if isinstance(entry, dict) else f"entry {number}"
    try:
        return _Row.model_validate(entry)
    except ValidationError as fault:
        problem = fault.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise DatasetError(f"{path}: {name}: {where}: {problem['msg']}") from fault


def _question(row: _Row, articles: Mapping[str, Article], path: Path) -> EvalQuestion:
    where = f"{path}: {row.id}"
    if (row.type is QuestionType.NO_ANSWER) == bool(row.slugs):
        raise DatasetError(f"{where}: a no-answer question has no slugs, any other has some")
    named = [*row.slugs, *(a.slug for a in row.anchors), *(e.slug for e in row.evidence)]
    for slug in named:
        if slug not in articles:
            raise DatasetError(f"{where}: there is no article {slug!r}")
    return EvalQuestion(
        id=row.id,
        text=row.question,
        type=row.type,
        tags=tuple(row.tags),
        slugs=tuple(row.slugs),
        sections=tuple(_section(a, articles[a.slug], where) for a in row.anchors),
        match=row.match,
        evidence=tuple(_span(e, articles[e.slug], where) for e in row.evidence),
        split=row.split,
    )


def _section(label: _Anchor, article: Article, where: str) -> SectionLabel:
    anchor = label.anchor or ""
    if anchor and anchor not in {s.anchor for s in article.sections}:
        raise DatasetError(f"{where}: {label.slug} has no section {anchor!r}")
    return SectionLabel(slug=label.slug, anchor=anchor)


def _span(evidence: _Evidence, article: Article, where: str) -> EvidenceSpan:
    spans = list(find_quote(evidence.quote, article.text))
    if len(spans) != 1:
        raise DatasetError(
            f"{where}: this quote occurs {len(spans)} times in {evidence.slug}, not once: "
            f"{evidence.quote!r}"
        )
    [(start, end)] = spans
    return EvidenceSpan(slug=evidence.slug, start=start, end=end, quote=evidence.quote)


def find_quote(quote: str, text: str) -> Iterable[tuple[int, int]]:
    """Every span of `text` that is the quote, whatever the white space and the backticks."""
    wanted = _squashed(quote)
    kept = [i for i, ch in enumerate(text) if _is_kept(ch)]
    haystack = "".join(text[i] for i in kept)
    at = haystack.find(wanted) if wanted else -1
    while at >= 0:
        yield kept[at], kept[at + len(wanted) - 1] + 1
        at = haystack.find(wanted, at + 1)


def _squashed(text: str) -> str:
    return "".join(ch for ch in text if _is_kept(ch))


def _is_kept(ch: str) -> bool:
    return not ch.isspace() and ch != "`"
