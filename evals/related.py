"""A side check: do two ways to cut articles agree on which articles are related?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.ask.retrieve import related_sections
from service.store.corpus import PgCorpus
from service.types import Article

TOP = 5
_DEPTH = 60  # chunks looked at to find that many articles; chosen, not measured


async def related_slugs(
    corpus: PgCorpus, articles: Sequence[Article], *, site: str
) -> dict[str, frozenset[str]]:
    """The five articles nearest to each one, as this site's index sees it."""
    found = {}
    for article in articles:
        excerpts = await corpus.related(site=site, slug=article.slug, limit=_DEPTH) or ()
        slugs = dict.fromkeys(e.chunk.slug for e in related_sections(excerpts, _DEPTH))
        found[article.slug] = frozenset(list(slugs)[:TOP])
    return found


def mean_jaccard(a: Mapping[str, frozenset[str]], b: Mapping[str, frozenset[str]]) -> float | None:
    """Mean over articles of shared / all related ones; None where neither names any."""
    pairs = [(a[slug], b[slug]) for slug in a if a[slug] | b[slug]]
    if not pairs:
        return None
    return sum(len(x & y) / len(x | y) for x, y in pairs) / len(pairs)
