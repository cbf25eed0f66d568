"""The second stage: embed the question, fetch the nearest chunks, apply floor and cap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from service.ports import Corpus, Embedder
from service.terms import is_identifier, terms
from service.types import Excerpt, Lexical, Question, Retrieval, Vector

RELATED_SECTIONS = 3  # chosen, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveConfig:
    """Knobs of the search."""

    floor: float  # least cosine of an excerpt; calibrated for the embedder
    top_k: int = 6
    max_per_article: int = 3
    depth: int = 48  # candidates fetched, to back-fill what the cap frees; chosen, not measured
    language: str | None = None  # search only articles in this language
    mode: Literal["vector", "hybrid"] = "hybrid"
    # chosen on the dev questions of four blogs: highest MRR, then recall@3
    chunk_weight: float = 0.1  # of the words in a chunk, beside the cosine
    article_weight: float = 0.1  # of the words in its whole article
    identifiers: bool = True  # identifiers count whole as well as in parts


def select_excerpts(candidates: Sequence[Excerpt], config: RetrieveConfig) -> tuple[Excerpt, ...]:
    """The k nearest above the floor with at most `max_per_article` of one article.

    Order is kept, and places that the cap frees go to the next article's excerpts. Of an article
    and its translations only the one found first counts: the others would say the same again.
    """
    taken: Counter[str] = Counter()
    language_of_page: dict[str, str] = {}
    kept: list[Excerpt] = []
    for excerpt in candidates:
        if len(kept) == config.top_k:
            break
        page = excerpt.page_key
        if excerpt.cosine < config.floor or taken[page] == config.max_per_article:
            continue
        if language_of_page.setdefault(page, excerpt.language) == excerpt.language:
            taken[page] += 1
            kept.append(excerpt)
    return tuple(kept)


def related_sections(
    candidates: Sequence[Excerpt], limit: int = RELATED_SECTIONS
) -> tuple[Excerpt, ...]:
    """The nearest excerpt of each section, to offer where there is no answer."""
    by_section: dict[tuple[str, str], Excerpt] = {}
    language_of_page: dict[str, str] = {}
    for excerpt in candidates:
        if language_of_page.setdefault(excerpt.page_key, excerpt.language) == excerpt.language:
            by_section.setdefault((excerpt.chunk.slug, excerpt.chunk.anchor), excerpt)
    return tuple(by_section.values())[:limit]


def lexical_part(question: Question, config: RetrieveConfig) -> Lexical:
    """The question's distinct terms and what they weigh."""
    found = set(terms(question.text, config.language or "en"))
    if not config.identifiers:
        found = {term for term in found if not is_identifier(term)}
    return Lexical(
        terms=tuple(sorted(found)),
        chunk_weight=config.chunk_weight,
        article_weight=config.article_weight,
    )


async def retrieve(
    question: Question,
    *,
    site: str,
    embedder: Embedder,
    corpus: Corpus,
    config: RetrieveConfig,
    vector: Vector | None = None,
) -> Retrieval:
    """What the site's articles have on the question. Takes no model, so it cannot spend.

    `vector` is the question's embedding, where it has been made already.
    """
    if vector is None:
        vector = await embedder.embed_query(question.text)
    lexical = lexical_part(question, config) if config.mode == "hybrid" else None
    candidates = await corpus.nearest(
        site=site,
        embedder_id=embedder.id,
        vector=vector,
        limit=config.depth,
        language=config.language,
        lexical=lexical,
    )
    return Retrieval(
        candidates=candidates,
        excerpts=select_excerpts(candidates, config),
        floor=config.floor,
    )
