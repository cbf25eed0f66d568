"""Reading the index: what a question finds, and the articles themselves."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from service.errors import IndexMismatch
from service.store.db import Database, Row
from service.store.vectors import to_pgvector
from service.types import Article, Chunk, Excerpt, Lexical, Section, Vector

_K1 = 0.9  # saturation of repeated words; the values of Anserini's baselines, kept by the eval
_B = 0.4  # how much long text is held against it

_NEAREST = """
select c.id, c.slug, c.position, c.anchor, c.heading_path, c.start_char, c.end_char, c.text,
       c.tokens, c.starts_in_code, a.title, a.language, a.page, a.url, n.distance
from (
  select site, id, embedding <=> $2 as distance
  from chunks
  where site = $1
    -- vectors of another model may not even have the same length
    and exists (select 1 from indexes where site = $1 and embedder_id = $4)
    and ($5::text is null or slug in (select slug from articles where site = $1 and language = $5))
  order by embedding <=> $2, slug, position
  limit $3
) n
join chunks c using (site, id)
join articles a using (site, slug)
order by n.distance, c.slug, c.position
"""
_HYBRID = f"""
with site_index as (
  select * from indexes where site = $1 and embedder_id = $4
), asked as materialized (
  select term, chunk_idf, article_idf from site_terms where site = $1 and term = any($6::text[])
), by_chunk as (
  select t.chunk_no as no, sum(q.chunk_idf * t.tf * ({_K1} + 1)
      / (t.tf + {_K1} * (1 - {_B} + {_B} * t.chunk_length / i.mean_chunk_length)))::float8 as bm25
  from asked q join chunk_terms t on t.site = $1 and t.term = q.term, site_index i
  group by t.chunk_no
), by_article as (
  select t.article_no as no, sum(q.article_idf * t.tf * ({_K1} + 1)
      / (t.tf + {_K1} * (1 - {_B} + {_B} * a.terms / i.mean_article_length)))::float8 as bm25
  from asked q join article_terms t on t.site = $1 and t.term = q.term
  join articles a on a.no = t.article_no, site_index i
  group by t.article_no
), scored as (
  select c.no, c.distance, coalesce(bc.bm25, 0) as bm25, coalesce(ba.bm25, 0) as article_bm25,
         1 - c.distance
           + $7::float8 * coalesce(bc.bm25 / (select max(bm25) from by_chunk), 0)
           + $8::float8 * coalesce(ba.bm25 / (select max(bm25) from by_article), 0) as score
  from (
    select no, site, slug, position, embedding <=> $2 as distance
    from chunks
    where site = $1 and exists (select 1 from site_index)
  ) c
  join articles a using (site, slug)
  left join by_chunk bc on bc.no = c.no
  left join by_article ba on ba.no = a.no
  where $5::text is null or a.language = $5
  order by score desc, c.slug, c.position
  limit $3
)
select c.id, c.slug, c.position, c.anchor, c.heading_path, c.start_char, c.end_char, c.text,
       c.tokens, c.starts_in_code, a.title, a.language, a.page, a.url, s.distance,
       s.bm25, s.article_bm25, s.score
from scored s
join chunks c on c.no = s.no
join articles a using (site, slug)
order by s.score desc, c.slug, c.position
"""
_EMBEDDER = "select embedder_id from indexes where site = $1"
_STATS = """
select (select count(*) from articles where site = $1) as articles,
       (select count(*) from chunks where site = $1) as chunks,
       i.index_id, i.embedder_id, i.updated_at
from (select $1::text as site) s left join indexes i using (site)
"""
_RELATED = """
with own as (
  select avg(embedding) as centre from chunks where site = $1 and slug in ($2, $2 || '/index')
)
select c.id, c.slug, c.position, c.anchor, c.heading_path, c.start_char, c.end_char, c.text,
       c.tokens, c.starts_in_code, a.title, a.language, a.page, a.url,
       c.embedding <=> own.centre as distance
from own, chunks c join articles a using (site, slug)
where c.site = $1 and c.slug not in ($2, $2 || '/index') and own.centre is not null
order by distance, c.slug, c.position
limit $3
"""
_ARTICLE = """
select slug, title, text, language, page, url, published::text
from articles
where site = $1 and slug in ($2, $2 || '/index')
order by slug
limit 1
"""
_TEXTS = "select slug, text from articles where site = $1"
_SECTIONS = """
select anchor, heading, level, heading_path, start_char, end_char
from sections
where site = $1 and slug = $2
order by position
"""
_HAS_ARTICLE = (
    "select exists (select 1 from articles where site = $1 and slug in ($2, $2 || '/index'))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStats:
    """How large a site's index is and what it was made with; ids are None before the first."""

    articles: int
    chunks: int
    index_id: str | None
    embedder_id: str | None
    updated_at: datetime.datetime | None


class PgCorpus:
    """Implements the port Corpus."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def nearest(
        self,
        *,
        site: str,
        embedder_id: str,
        vector: Vector,
        limit: int,
        language: str | None = None,
        lexical: Lexical | None = None,
    ) -> tuple[Excerpt, ...]:
        """The site's nearest chunks, exact scan. Raises IndexMismatch, StoreError."""
        arguments = (site, to_pgvector(vector), limit, embedder_id, language)
        async with self._db.connection("searching") as conn:
            if lexical is None:
                rows = await conn.fetch(_NEAREST, *arguments)
            else:
                weights = (lexical.chunk_weight, lexical.article_weight)
                rows = await conn.fetch(_HYBRID, *arguments, list(lexical.terms), *weights)
            made_with = embedder_id if rows else await conn.fetchval(_EMBEDDER, site)
        if made_with is not None and made_with != embedder_id:
            raise IndexMismatch(
                f"the index of site {site!r} was made with {made_with}, this service runs "
                f"{embedder_id}; run ingest again, or set ASK_BLOG_MODEL back"
            )
        return tuple(_excerpt(row) for row in rows)

    async def related(self, *, site: str, slug: str, limit: int) -> tuple[Excerpt, ...] | None:
        """Chunks of other articles nearest to this one's mean vector; None: no such article."""
        async with self._db.connection("reading related articles") as conn:
            if not await conn.fetchval(_HAS_ARTICLE, site, slug):
                return None
            rows = await conn.fetch(_RELATED, site, slug, limit)
        return tuple(_excerpt(row) for row in rows)

    async def article(self, *, site: str, slug: str) -> Article | None:
        """An indexed article with its sections; its blocks are not stored."""
        async with self._db.connection("reading an article") as conn:
            row = await conn.fetchrow(_ARTICLE, site, slug)
            if row is None:
                return None
            sections = await conn.fetch(_SECTIONS, site, row["slug"])
        return Article(
            slug=row["slug"],
            title=row["title"],
            text=row["text"],
            sections=tuple(_section(s) for s in sections),
            blocks=(),
            published=row["published"],
            language=row["language"],
            page=row["page"],
            url=row["url"],
        )

    async def texts(self, *, site: str) -> list[tuple[str, str]]:
        """(slug, cleaned text) of every article."""
        async with self._db.connection("reading the articles") as conn:
            rows = await conn.fetch(_TEXTS, site)
        return [(row["slug"], row["text"]) for row in rows]

    async def stats(self, *, site: str) -> IndexStats:
        """Size and make of the site's index."""
        async with self._db.connection("reading the index's state") as conn:
            row = await conn.fetchrow(_STATS, site)
        return IndexStats(
            articles=row["articles"],
            chunks=row["chunks"],
            index_id=row["index_id"],
            embedder_id=row["embedder_id"],
            updated_at=row["updated_at"],
        )


def _section(row: Row) -> Section:
    return Section(
        anchor=row["anchor"],
        heading=row["heading"],
        level=row["level"],
        heading_path=tuple(row["heading_path"]),
        start=row["start_char"],
        end=row["end_char"],
    )


def _excerpt(row: Row) -> Excerpt:
    chunk = Chunk(
        id=row["id"],
        slug=row["slug"],
        position=row["position"],
        anchor=row["anchor"],
        heading_path=tuple(row["heading_path"]),
        start=row["start_char"],
        end=row["end_char"],
        text=row["text"],
        tokens=row["tokens"],
        starts_in_code=row["starts_in_code"],
    )
    return Excerpt(
        chunk=chunk,
        title=row["title"],
        language=row["language"],
        cosine=1.0 - row["distance"],
        bm25=row.get("bm25", 0.0),
        article_bm25=row.get("article_bm25", 0.0),
        score=row.get("score"),
        page=row["page"],
        url=row["url"],
    )
