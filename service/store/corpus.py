"""Articles, sections and chunks: what a question reads and what an ingest replaces."""

from __future__ import annotations

import asyncio
import datetime
from array import array
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import numpy as np
import pgvector

from service.errors import IndexMismatch
from service.ports import ReplacedArticle, StoredArticle
from service.store.db import Connection, Database, Row
from service.types import Article, Chunk, Excerpt, Section, Vector

_LOCK_WAIT_S = 0.5  # chosen, not measured

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
_EMBEDDER = "select embedder_id from indexes where site = $1"
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
_REMOVE = "delete from articles where site = $1 and slug = any($2)"
_ADD_ARTICLE = """
insert into articles (site, slug, title, text, language, page, url, published, fingerprint)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""
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
       c.tokens, c.starts_in_code, a.title, a.language, a.page, a.url, c.embedding <=> own.centre as distance
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
_SECTIONS = """
select anchor, heading, level, heading_path, start_char, end_char
from sections
where site = $1 and slug = $2
order by position
"""
_HAS_ARTICLE = (
    "select exists (select 1 from articles where site = $1 and slug in ($2, $2 || '/index'))"
)

_SECTION_COLUMNS = (
    *("site", "slug", "position", "anchor", "heading", "heading_path", "level"),
    *("start_char", "end_char"),
)
_CHUNK_COLUMNS = (
    *("site", "id", "slug", "position", "anchor", "heading_path", "start_char", "end_char"),
    *("text", "tokens", "starts_in_code", "embedded_sha256", "embedding"),
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
    """Implements the ports Corpus and Index."""

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
    ) -> tuple[Excerpt, ...]:
        """The site's nearest chunks, exact scan. Raises IndexMismatch, StoreError."""
        wanted = to_pgvector(vector)
        async with self._db.connection("searching") as conn:
            rows = await conn.fetch(_NEAREST, site, wanted, limit, embedder_id, language)
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
            if not await conn.fetchval(_TRY_LOCK_SITE, site):
                on_wait()
                while not await conn.fetchval(_TRY_LOCK_SITE, site):
                    await asyncio.sleep(_LOCK_WAIT_S)
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
            await conn.execute(_SET_INDEX, site, index_id, embedder_id)
            await conn.execute(_DROP_PENDING, site)


async def _copy(
    conn: Connection, table: str, columns: Sequence[str], rows: Iterable[tuple[object, ...]]
) -> None:
    await conn.copy_records_to_table(table, records=list(rows), columns=columns)


def to_pgvector(vector: Vector) -> pgvector.Vector:
    """array("f") -> what the codec sends."""
    return pgvector.Vector(np.frombuffer(vector, dtype=np.float32))


def from_pgvector(stored: pgvector.Vector) -> Vector:
    """What the codec reads -> array("f")."""
    return array("f", stored.to_list())


def _article_row(site: str, replaced: ReplacedArticle) -> tuple[object, ...]:
    article = replaced.article
    published = article.published and datetime.date.fromisoformat(article.published)
    return (
        *(site, article.slug, article.title, article.text, article.language),
        *(article.page or article.slug, article.url, published, replaced.fingerprint),
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
        page=row["page"],
        url=row["url"],
    )
