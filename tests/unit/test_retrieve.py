"""Floor, cap with backfill, order, and what is offered where there is no answer."""

from __future__ import annotations

from dataclasses import replace

from service.ask.retrieve import RetrieveConfig, related_sections, retrieve, select_excerpts
from service.types import Excerpt, Question
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
