"""Floor, cap with backfill, order, and what is offered where there is no answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from service.ask.retrieve import (
    RetrieveConfig,
    lexical_part,
    related_sections,
    retrieve,
    select_excerpts,
)
from service.types import Excerpt, Lexical, Question
from tests.builders import make_excerpt
from tests.fakes import FixedCorpus, HashEmbedder


def at(cosine: float, slug: str, position: int = 0, anchor: str = "x") -> Excerpt:
    return make_excerpt(cosine=cosine, slug=slug, position=position, anchor=anchor)


def test_the_floor_drops_excerpts_below_it_even_when_fewer_than_k_remain() -> None:
    config = RetrieveConfig(floor=0.5, top_k=3)
    kept = select_excerpts([at(0.6, "a"), at(0.5, "b"), at(0.49, "c")], config)
    assert [e.cosine for e in kept] == [0.6, 0.5]


def test_places_freed_by_the_cap_go_to_the_next_articles_in_order() -> None:
    config = RetrieveConfig(floor=0.0, top_k=4, max_per_article=2)
    candidates = [at(0.9 - i / 100, "long", i) for i in range(5)] + [at(0.5, "b"), at(0.4, "c")]
    kept = select_excerpts(candidates, config)
    assert [(e.chunk.slug, e.chunk.position) for e in kept] == [
        ("long", 0),
        ("long", 1),
        ("b", 0),
        ("c", 0),
    ]


def test_translations_of_one_article_do_not_crowd_each_other_out() -> None:
    def translated(cosine: float, language: str, position: int = 0) -> Excerpt:
        excerpt = at(cosine, f"{language}/floor", position)
        return replace(excerpt, page="floor", language=language)

    candidates = [
        translated(0.9, "en"),
        translated(0.8, "de"),
        translated(0.7, "en", 1),
        translated(0.6, "fr"),
        at(0.5, "other"),
    ]
    kept = select_excerpts(candidates, RetrieveConfig(floor=0.0))
    assert [e.chunk.slug for e in kept] == ["en/floor", "en/floor", "other"]
    assert [e.chunk.slug for e in related_sections(candidates)] == ["en/floor", "other"]


def test_no_more_than_k_are_kept() -> None:
    config = RetrieveConfig(floor=0.0, top_k=2)
    assert len(select_excerpts([at(0.9, str(i)) for i in range(9)], config)) == 2


def test_related_sections_are_distinct_and_nearest_first() -> None:
    found = related_sections([at(0.3, "a", 0, "x"), at(0.2, "a", 1, "x"), at(0.1, "a", 2, "y")])
    assert [(e.chunk.anchor, e.cosine) for e in found] == [("x", 0.3), ("y", 0.1)]


async def test_a_search_keeps_candidates_below_the_floor_for_evals_and_related_sections() -> None:
    retrieval = await retrieve(
        Question(text="q"),
        site="s",
        embedder=HashEmbedder(),
        corpus=FixedCorpus([at(0.2, "a"), at(0.8, "b")]),
        config=RetrieveConfig(floor=0.5),
    )
    assert [e.cosine for e in retrieval.candidates] == [0.8, 0.2]
    assert [e.cosine for e in retrieval.excerpts] == [0.8]


def test_a_questions_words_are_distinct_stems_with_identifiers_whole_and_in_parts() -> None:
    config = RetrieveConfig(floor=0.5, chunk_weight=0.2, article_weight=0.3)
    lexical = lexical_part(Question(text="Baking breads, baking with oven.max_heat"), config)
    assert lexical == Lexical(
        terms=("=oven.max_heat", "bake", "bread", "heat", "max", "oven", "with"),
        chunk_weight=0.2,
        article_weight=0.3,
    )


def test_with_identifiers_off_only_their_parts_are_searched() -> None:
    config = RetrieveConfig(floor=0.5, identifiers=False)
    lexical = lexical_part(Question(text="--dry-run of oven.max_heat"), config)
    assert lexical.terms == ("dri", "heat", "max", "of", "oven", "run")


@pytest.mark.parametrize(
    ("language", "term"), [(None, "schulen"), ("en", "schulen"), ("de", "schul"), ("xx", "schulen")]
)
def test_words_are_stemmed_in_the_language_that_is_searched(
    language: str | None, term: str
) -> None:
    config = RetrieveConfig(floor=0.5, language=language)
    assert lexical_part(Question(text="Schulen"), config).terms == (term,)


class Listening(FixedCorpus):
    """Remembers what it was asked."""

    async def nearest(self, **asked: Any) -> tuple[Excerpt, ...]:
        self.asked = asked
        return await super().nearest(**asked)


async def asked_with(**knobs: Any) -> dict[str, Any]:
    corpus = Listening([at(0.8, "a")])
    await retrieve(
        Question(text="baking breads"),
        site="s",
        embedder=HashEmbedder(),
        corpus=corpus,
        config=RetrieveConfig(floor=0.5, **knobs),
    )
    return corpus.asked


async def test_vector_mode_sends_no_words() -> None:
    assert (await asked_with(mode="vector"))["lexical"] is None


async def test_hybrid_mode_sends_the_words_of_the_question() -> None:
    asked = await asked_with(mode="hybrid", depth=9, language="en")
    assert asked["lexical"].terms == ("bake", "bread")
    assert (asked["limit"], asked["language"], asked["site"]) == (9, "en", "s")
