"""Writing the index: one ingest at a time, one transaction for what readers see."""

from __future__ import annotations

import asyncio
import datetime
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager

from service.ports import ReplacedArticle, StoredArticle
from service.store.db import Connection, Database
from service.store.vectors import from_pgvector, to_pgvector
from service.types import Vector

_LOCK_WAIT_S = 0.5  # chosen, not measured

_INDEX = "select index_id from indexes where site = $1"
_STORED = "select slug, fingerprint from articles where site = $1 order by slug"
_KNOWN = """
select embedded_sha256, embedding
from chunks
where site = $1 and embedded_sha256 = any($3)
  and exists (select 1 from indexes where site = $1 and embedder_id = $2)
union all
select embedded_sha256, embedding
from pending_vectors
where site = $1 and embedder_id = $2 and embedded_sha256 = any($3)
"""
_KEEP_PENDING = """
insert into pending_vectors (site, embedder_id, embedded_sha256, embedding)
values ($1, $2, $3, $4)
on conflict do nothing
"""
_DROP_PENDING = "delete from pending_vectors where site = $1"
_TRY_LOCK_SITE = (
    "select pg_try_advisory_xact_lock(hashtextextended('ask-the-blog ingest ' || $1, 0))"
)
_SET_INDEX = """
insert into indexes (site, index_id, embedder_id) values ($1, $2, $3)
on conflict (site) do update
set index_id = excluded.index_id, embedder_id = excluded.embedder_id, updated_at = now()
"""
_NUMBERS = """
select c.id, c.no as chunk_no, a.no as article_no
from chunks c join articles a using (site, slug)
where c.site = $1 and c.slug = any($2)
"""
_RENEW_LENGTHS = """
update indexes
set mean_chunk_length = greatest(c.mean, 1), mean_article_length = greatest(a.mean, 1)
from (
  select coalesce(sum(terms)::float8 / nullif((select count(*) from chunks where site = $1), 0), 1)
    as mean
  from articles where site = $1
) c, (
  select coalesce(avg(terms), 1) as mean from articles where site = $1
) a
where site = $1
"""
_FORGET_RARITY = "delete from site_terms where site = $1"
_RENEW_RARITY = """
with sums as (
  select (select count(*) from chunks where site = $1)::float8 as chunks,
         (select count(*) from articles where site = $1)::float8 as articles
), by_chunk as (
  select term, count(*) as n from chunk_terms where site = $1 group by term
), by_article as (
  select term, count(*) as n from article_terms where site = $1 group by term
)
insert into site_terms (site, term, chunk_idf, article_idf)
select $1, c.term, ln(1 + (s.chunks - c.n + 0.5) / (c.n + 0.5)),
       ln(1 + (s.articles - a.n + 0.5) / (a.n + 0.5))
from by_chunk c join by_article a using (term), sums s
where c.n <= greatest($2 * s.chunks, $3)
"""
_REMOVE = "delete from articles where site = $1 and slug = any($2)"
_ADD_ARTICLE = """
insert into articles
  (site, slug, title, text, language, page, url, published, fingerprint, terms)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
_SECTION_COLUMNS = (
    *("site", "slug", "position", "anchor", "heading", "heading_path", "level"),
    *("start_char", "end_char"),
)
_CHUNK_TERM_COLUMNS = ("site", "term", "chunk_no", "tf", "chunk_length")
_ARTICLE_TERM_COLUMNS = ("site", "term", "article_no", "tf")
_FREQUENT_SHARE = 0.3  # of the chunks; lower began to cost recall@3 on dev, higher only time
_FREQUENT_LEAST = 20.0  # chunks; on a small site no term is too much work
_MAX_TF = 32_767  # smallint; BM25 is long saturated by then
_CHUNK_COLUMNS = (
    *("site", "id", "slug", "position", "anchor", "heading_path", "start_char", "end_char"),
    *("text", "tokens", "starts_in_code", "embedded_sha256", "embedding"),
)


class PgIndex:
    """Implements the port Index."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def stored_articles(self, *, site: str, index_id: str) -> tuple[StoredArticle, ...]:
        """What the site's index holds; fingerprints are empty if `index_id` differs."""
        async with self._db.connection("reading the index") as conn:
            same = await conn.fetchval(_INDEX, site) == index_id
            rows = await conn.fetch(_STORED, site)
        return tuple(
            StoredArticle(slug=row["slug"], fingerprint=row["fingerprint"] if same else "")
            for row in rows
        )

    @asynccontextmanager
    async def exclusive(self, *, site: str, on_wait: Callable[[], None]) -> AsyncIterator[None]:
        """Holds the site for one ingest; `on_wait` is called once if another one holds it.

        The lock belongs to a transaction, so that it is freed when the process dies and works
        behind a pooler that shares sessions.
        """
        async with self._db.transaction("waiting for another ingest") as conn:
            free = await conn.fetchval(_TRY_LOCK_SITE, site)
            if not free:
                on_wait()
            while not free:
                await asyncio.sleep(_LOCK_WAIT_S)
                free = await conn.fetchval(_TRY_LOCK_SITE, site)
            yield

    async def keep_pending(
        self, *, site: str, embedder_id: str, vectors: Mapping[str, Vector]
    ) -> None:
        """Keep vectors of an unfinished ingest, so that the next one need not make them again."""
        rows = [(site, embedder_id, h, to_pgvector(v)) for h, v in vectors.items()]
        async with self._db.transaction("keeping vectors") as conn:
            await conn.executemany(_KEEP_PENDING, rows)

    async def known_vectors(
        self, *, site: str, embedder_id: str, hashes: Iterable[str]
    ) -> Mapping[str, Vector]:
        """Vectors already made of these embedded texts by the same model, pending ones included."""
        async with self._db.connection("reading stored vectors") as conn:
            rows = await conn.fetch(_KNOWN, site, embedder_id, list(hashes))
        return {row["embedded_sha256"]: from_pgvector(row["embedding"]) for row in rows}

    async def replace(
        self,
        *,
        site: str,
        index_id: str,
        embedder_id: str,
        articles: Sequence[ReplacedArticle],
        removed: Sequence[str],
    ) -> None:
        """Write and remove articles in one transaction; what was pending is done with."""
        gone = [*removed, *(a.article.slug for a in articles)]
        async with self._db.transaction("writing the index") as conn:
            await conn.execute(_REMOVE, site, gone)
            await conn.executemany(_ADD_ARTICLE, [_article_row(site, a) for a in articles])
            await _copy(conn, "sections", _SECTION_COLUMNS, _section_rows(site, articles))
            await _copy(conn, "chunks", _CHUNK_COLUMNS, _chunk_rows(site, articles))
            numbers = await conn.fetch(_NUMBERS, site, [a.article.slug for a in articles])
            number = {row["id"]: (row["chunk_no"], row["article_no"]) for row in numbers}
            await _copy(
                conn, "chunk_terms", _CHUNK_TERM_COLUMNS, _term_rows(site, articles, number)
            )
            rows = _article_term_rows(site, articles, number)
            await _copy(conn, "article_terms", _ARTICLE_TERM_COLUMNS, rows)
            await conn.execute(_SET_INDEX, site, index_id, embedder_id)
            await conn.execute(_RENEW_LENGTHS, site)
            await conn.execute(_FORGET_RARITY, site)
            await conn.execute(_RENEW_RARITY, site, _FREQUENT_SHARE, _FREQUENT_LEAST)
            await conn.execute(_DROP_PENDING, site)


async def _copy(
    conn: Connection, table: str, columns: Sequence[str], rows: Iterable[tuple[object, ...]]
) -> None:
    await conn.copy_records_to_table(table, records=list(rows), columns=columns)


def _article_row(site: str, replaced: ReplacedArticle) -> tuple[object, ...]:
    article = replaced.article
    published = article.published and datetime.date.fromisoformat(article.published)
    return (
        *(site, article.slug, article.title, article.text, article.language),
        *(article.page or article.slug, article.url, published, replaced.fingerprint),
        sum(sum(counts.values()) for counts in replaced.term_counts),
    )


def _section_rows(site: str, articles: Iterable[ReplacedArticle]) -> Iterable[tuple[object, ...]]:
    for replaced in articles:
        for position, s in enumerate(replaced.article.sections):
            yield (
                *(site, replaced.article.slug, position, s.anchor, s.heading),
                *(list(s.heading_path), s.level, s.start, s.end),
            )


def _chunk_rows(site: str, articles: Iterable[ReplacedArticle]) -> Iterable[tuple[object, ...]]:
    for replaced in articles:
        for c, digest, vector in zip(
            replaced.chunks, replaced.embedded_hashes, replaced.vectors, strict=True
        ):
            yield (
                *(site, c.id, c.slug, c.position, c.anchor, list(c.heading_path)),
                *(c.start, c.end, c.text, c.tokens, c.starts_in_code, digest),
                to_pgvector(vector),
            )


def _term_rows(
    site: str, articles: Iterable[ReplacedArticle], number: Mapping[str, tuple[int, int]]
) -> Iterable[tuple[object, ...]]:
    for replaced in articles:
        for chunk, counts in zip(replaced.chunks, replaced.term_counts, strict=True):
            length = sum(counts.values())
            for term, tf in counts.items():
                yield (site, term, number[chunk.id][0], min(tf, _MAX_TF), length)


def _article_term_rows(
    site: str, articles: Iterable[ReplacedArticle], number: Mapping[str, tuple[int, int]]
) -> Iterable[tuple[object, ...]]:
    for replaced in articles:
        total: Counter[str] = Counter()
        for counts in replaced.term_counts:
            total.update(counts)
        for term, tf in total.items():
            yield (site, term, number[replaced.chunks[0].id][1], tf)
