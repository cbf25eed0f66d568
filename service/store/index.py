"""Writing the index: one ingest at a time, one transaction for what readers see."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager

from service.ports import ReplacedArticle, StoredArticle
from service.store.db import Connection, Database, Row
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
_RENEW_SUMS = """
update indexes
set chunks = c.n, mean_chunk_length = greatest(c.mean, 1), articles = a.n,
    mean_article_length = greatest(a.mean, 1), frequent_terms = f.terms
from (
  select count(*) as n, coalesce(avg(length), 0) as mean
  from (
    select max(chunk_length) as length
    from chunk_terms where site = $1 group by chunk_no
  ) lengths
) c, (
  select count(*) as n, coalesce(avg(terms), 0) as mean from articles where site = $1
) a, (
  select coalesce(array_agg(term), '{}') as terms
  from (
    select term from chunk_terms where site = $1
    group by term
    having count(*) > 0.4 * (select count(*) from chunks where site = $1)
  ) often
) f
where site = $1
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
_TERM_COLUMNS = ("site", "term", "chunk_no", "article_no", "tf", "chunk_length")
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
            await _copy(conn, "chunk_terms", _TERM_COLUMNS, _term_rows(site, articles, numbers))
            await conn.execute(_SET_INDEX, site, index_id, embedder_id)
            await conn.execute(_RENEW_SUMS, site)
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
    site: str, articles: Iterable[ReplacedArticle], numbers: Iterable[Row]
) -> Iterable[tuple[object, ...]]:
    number = {row["id"]: (row["chunk_no"], row["article_no"]) for row in numbers}
    for replaced in articles:
        for chunk, counts in zip(replaced.chunks, replaced.term_counts, strict=True):
            length = sum(counts.values())
            for term, tf in counts.items():
                yield (site, term, *number[chunk.id], min(tf, _MAX_TF), length)
