"""SQL against real Postgres with pgvector."""

from __future__ import annotations

import asyncio
import math
from array import array
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from service.budget import Tokens
from service.errors import BudgetExceeded, StoreError
from service.ingest.pipeline import sha256
from service.ports import ReplacedArticle
from service.store import asks, corpus, index, ledger, migrate
from service.store.asks import PgAsks
from service.store.corpus import PgCorpus
from service.store.db import Database, connect_once, open_database
from service.store.index import PgIndex
from service.store.ledger import Caps, PgLedger
from service.terms import term_counts, terms
from service.types import (
    AbstainedBecause,
    Abstention,
    Lexical,
    ModelRequest,
    Question,
    Refusal,
    Rule,
    Trace,
    Vector,
)
from tests.builders import make_article, make_chunk

RNG = np.random.default_rng(7)


def random_vector() -> Vector:
    row = RNG.normal(size=384)
    return array("f", (row / np.linalg.norm(row)).tolist())


def replaced(slug: str, *vectors: Vector) -> ReplacedArticle:
    chunks = tuple(
        make_chunk(f"Text {slug} {i}.", slug=slug, position=i) for i in range(len(vectors))
    )
    return ReplacedArticle(
        article=make_article(("One", [c.text for c in chunks]), slug=slug),
        fingerprint=f"mark-{slug}",
        chunks=chunks,
        term_counts=tuple(term_counts(c.text) for c in chunks),
        embedded_hashes=tuple(sha256(c.text) for c in chunks),
        vectors=vectors,
    )


async def write(store: PgIndex, *articles: ReplacedArticle, site: str = "s", **fields: Any) -> None:
    defaults: dict[str, Any] = {"index_id": "m+c", "embedder_id": "m", "removed": []}
    await store.replace(site=site, articles=articles, **{**defaults, **fields})


async def slugs(store: PgIndex, site: str = "s") -> list[str]:
    return [a.slug for a in await store.stored_articles(site=site, index_id="m+c")]


async def test_nearest_neighbours_equal_brute_force(db: Database) -> None:
    store, reading = PgIndex(db), PgCorpus(db)
    vectors = {f"a{i}": [random_vector() for _ in range(10)] for i in range(20)}
    await write(store, *(replaced(slug, *v) for slug, v in vectors.items()))
    wanted = random_vector()
    found = await reading.nearest(site="s", embedder_id="m", vector=wanted, limit=25)
    cosines = {
        (slug, i): float(np.dot(vector, wanted))
        for slug, group in vectors.items()
        for i, vector in enumerate(group)
    }
    expected = sorted(cosines, key=lambda key: -cosines[key])[:25]
    assert [(e.chunk.slug, e.chunk.position) for e in found] == expected
    for excerpt in found:
        at = (excerpt.chunk.slug, excerpt.chunk.position)
        assert excerpt.cosine == pytest.approx(cosines[at], abs=1e-6)


async def test_ties_are_ordered_by_slug_and_position(db: Database) -> None:
    store, reading = PgIndex(db), PgCorpus(db)
    same = random_vector()
    await write(store, replaced("b", same, same), replaced("a", same))
    found = await reading.nearest(site="s", embedder_id="m", vector=same, limit=2)
    assert [(e.chunk.slug, e.chunk.position) for e in found] == [("a", 0), ("b", 0)]


async def test_a_site_never_sees_another_sites_articles(db: Database) -> None:
    store, reading = PgIndex(db), PgCorpus(db)
    vector = random_vector()
    await write(store, replaced("a", vector), site="mine")
    await write(store, replaced("a", vector), site="yours")
    await write(store, site="yours", removed=["a"])
    assert await slugs(store, "mine") == ["a"]
    found = await reading.nearest(site="yours", embedder_id="m", vector=vector, limit=5)
    assert found == ()
    assert await reading.article(site="yours", slug="a") is None
    assert await reading.related(site="yours", slug="a", limit=5) is None


async def test_an_index_of_another_embedder_is_refused(db: Database) -> None:
    store, reading = PgIndex(db), PgCorpus(db)
    vector = random_vector()
    await write(store, replaced("a", vector))
    with pytest.raises(StoreError, match="was made with m, this service runs n; run ingest"):
        await reading.nearest(site="s", embedder_id="n", vector=vector, limit=5)


async def test_vectors_survive_the_round_trip_and_are_reused_for_the_same_index(
    db: Database,
) -> None:
    store = PgIndex(db)
    vector = random_vector()
    await write(store, replaced("a", vector))
    digest = sha256("Text a 0.")
    known = await store.known_vectors(site="s", embedder_id="m", hashes=[digest, "x"])
    assert known == {digest: vector}
    assert await store.known_vectors(site="s", embedder_id="n", hashes=[digest]) == {}


async def test_a_failed_write_leaves_the_old_index_whole(db: Database) -> None:
    store = PgIndex(db)
    await write(store, replaced("a", random_vector()))
    broken = replaced("b", array("f", [float("nan")] * 384))
    with pytest.raises(StoreError):
        await write(store, broken, removed=["a"])
    assert await slugs(store) == ["a"]


async def test_replacing_an_article_replaces_its_sections_and_chunks(db: Database) -> None:
    store, reading = PgIndex(db), PgCorpus(db)
    await write(store, replaced("a", random_vector(), random_vector()))
    await write(store, replaced("a", random_vector()))
    stats = await reading.stats(site="s")
    assert (stats.articles, stats.chunks) == (1, 1)
    article = await reading.article(site="s", slug="a")
    assert article is not None
    assert [s.anchor for s in article.sections] == ["one"]


async def test_related_articles_are_others(db: Database) -> None:
    store, reading = PgIndex(db), PgCorpus(db)
    near, far = random_vector(), random_vector()
    await write(store, replaced("a", near), replaced("b", near), replaced("c", far))
    found = await reading.related(site="s", slug="a", limit=5)
    assert found is not None
    assert [e.chunk.slug for e in found] == ["b", "c"]


TEXTS = {
    "locks": ["the lock file pins every version", "run uv_lock to renew the lock file"],
    "bread": ["bread needs flour and the oven", "the oven is hot"],
    "mixed": ["a lock on the oven door"],
}


def reference_bm25(texts: dict[str, str], question: str) -> dict[str, float]:
    """BM25 by its definition, k1 = 0.9, b = 0.4, over documents by name."""
    counts = {name: term_counts(text) for name, text in texts.items()}
    lengths = {name: sum(c.values()) for name, c in counts.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores = dict.fromkeys(texts, 0.0)
    for term in set(terms(question)):
        having = [name for name, c in counts.items() if c[term]]
        idf = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for name in having:
            tf = counts[name][term]
            scores[name] += idf * tf * 1.9 / (tf + 0.9 * (0.6 + 0.4 * lengths[name] / mean))
    return scores


async def write_texts(db: Database) -> None:
    articles = []
    for slug, texts in TEXTS.items():
        made = replaced(slug, *(random_vector() for _ in texts))
        counts = tuple(term_counts(text) for text in texts)
        articles.append(replace(made, term_counts=counts))
    await write(PgIndex(db), *articles)


async def test_bm25_of_chunks_and_articles_is_that_of_the_definition(db: Database) -> None:
    await write_texts(db)
    question = "renew lock version oven"
    lexical = Lexical(terms=tuple(set(terms(question))), chunk_weight=0.5, article_weight=0.25)
    found = await PgCorpus(db).nearest(
        site="s", embedder_id="m", vector=random_vector(), limit=9, lexical=lexical
    )
    by_chunk = reference_bm25(
        {f"{slug} {i}": t for slug, texts in TEXTS.items() for i, t in enumerate(texts)}, question
    )
    by_article = reference_bm25({slug: " ".join(texts) for slug, texts in TEXTS.items()}, question)
    assert len(found) == 5
    for e in found:
        assert e.bm25 == pytest.approx(by_chunk[f"{e.chunk.slug} {e.chunk.position}"], rel=1e-5)
        assert e.article_bm25 == pytest.approx(by_article[e.chunk.slug], rel=1e-5)
        assert e.score == pytest.approx(
            e.cosine
            + 0.5 * e.bm25 / max(by_chunk.values())
            + 0.25 * e.article_bm25 / max(by_article.values()),
            rel=1e-5,
        )
    assert [e.score for e in found] == sorted((e.score for e in found), reverse=True)


async def test_words_that_nobody_wrote_leave_the_cosine_order(db: Database) -> None:
    await write_texts(db)
    search = {"site": "s", "embedder_id": "m", "vector": random_vector(), "limit": 9}
    unknown = Lexical(terms=("zzz",), chunk_weight=1, article_weight=1)
    with_words = await PgCorpus(db).nearest(**search, lexical=unknown)
    without = await PgCorpus(db).nearest(**search)
    assert [e.chunk.id for e in with_words] == [e.chunk.id for e in without]


async def test_terms_of_a_removed_article_no_longer_count(db: Database) -> None:
    await write_texts(db)
    await write(PgIndex(db), removed=["locks", "mixed"])
    async with db.connection("test") as conn:
        left = await conn.fetchval("select count(*) from chunk_terms where term = 'lock'")
        known = await conn.fetchval("select count(*) from site_terms where term = 'lock'")
    assert (left, known) == (0, 0)


async def test_vectors_are_stored_in_the_row(db: Database) -> None:
    async with db.connection("test") as conn:
        storage = await conn.fetchval(
            "select attstorage from pg_attribute "
            "where attrelid = 'chunks'::regclass and attname = 'embedding'"
        )
    assert storage == b"p"


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (module, name)
        for module in (asks, corpus, index, ledger)
        for name, value in vars(module).items()
        if name.startswith("_")
        and isinstance(value, str)
        and " " in value
        and not name.startswith("__")
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
async def test_every_statement_prepares_against_the_migrated_schema(
    db: Database, module: Any, name: str
) -> None:
    async with db.connection("test") as conn:
        await conn.prepare(getattr(module, name))


async def test_migrating_twice_changes_nothing(database_url: str) -> None:
    assert await migrate.migrate(database_url) == []
    assert await migrate.pending_migrations(database_url) == []


async def test_processes_that_migrate_at_once_apply_each_migration_once(
    postgres_url: str,
) -> None:
    admin = await connect_once(postgres_url)
    await admin.execute("create database racing")
    url = postgres_url.replace("/ask_blog?", "/racing?")
    applied = await asyncio.gather(*(migrate.migrate(url) for _ in range(4)))
    assert sorted(name for names in applied for name in names) == [
        file.name for file in migrate.migration_files()
    ]
    await admin.execute("drop database racing with (force)")
    await admin.close()


async def test_a_database_that_is_down_is_a_store_error_that_says_what_was_being_done() -> None:
    with pytest.raises(StoreError, match="connecting to Postgres: "):
        await open_database("postgresql://127.0.0.1:1/none")


async def test_a_database_without_tables_says_to_migrate(postgres_url: str) -> None:
    with pytest.raises(StoreError, match="run: python -m service migrate"):
        await open_database(postgres_url.replace("/ask_blog?", "/postgres?"))


REQUEST = ModelRequest(
    purpose="answer",
    model="claude-haiku-5-5",
    system="",
    sources=(),
    prompt="",
    max_tokens=1,
    timeout_s=1,
)


def purse(db: Database, *, daily: str = "1", monthly: str = "10") -> PgLedger:
    caps = Caps(daily=Decimal(daily), monthly=Decimal(monthly))
    return PgLedger(db, account="service", caps=caps)


async def test_reservations_count_until_they_are_settled(db: Database) -> None:
    book = purse(db)
    entry = await book.reserve(REQUEST, Decimal("0.75"))
    with pytest.raises(BudgetExceeded, match="daily cap of 1"):
        await book.reserve(REQUEST, Decimal("0.26"))
    await book.settle(entry, Decimal("0.10"), Tokens(input=5, output=1))
    await book.reserve(REQUEST, Decimal("0.90"))
    assert (await book.spent()).day == Decimal("1.00")


async def test_the_monthly_cap_holds_as_well(db: Database) -> None:
    with pytest.raises(BudgetExceeded, match=r"monthly cap of 0\.5"):
        await purse(db, monthly="0.5").reserve(REQUEST, Decimal("0.6"))


async def test_a_second_settlement_changes_nothing(db: Database) -> None:
    book = purse(db)
    entry = await book.reserve(REQUEST, Decimal("0.5"))
    await book.settle(entry, Decimal("0.2"), Tokens(input=1, output=1))
    await book.settle(entry, Decimal("0.0"), Tokens(input=0, output=0))
    assert (await book.spent()).day == Decimal("0.2")


async def test_racing_reservations_never_pass_the_cap(db: Database) -> None:
    async def try_one() -> bool:
        try:
            await purse(db).reserve(REQUEST, Decimal("0.3"))
        except BudgetExceeded:
            return False
        return True

    assert sum(await asyncio.gather(*(try_one() for _ in range(20)))) == 3
    assert (await purse(db).spent()).day == Decimal("0.9")


def trace(outcome: Any, question: str = "q", ask_id: str = "id1") -> Trace:
    return Trace(id=ask_id, question=Question(text=question), outcome=outcome)


async def test_a_question_is_recorded_with_how_it_ended(db: Database) -> None:
    log = PgAsks(db)
    abstention = Abstention(why=AbstainedBecause.BELOW_FLOOR, related=())
    await log.record(trace(abstention), site="s", response={"a": 1}, receipt={"b": 2})
    await log.record(
        trace(Refusal(rule=Rule.INJECTION), "", "id2"), site="s", response={}, receipt={}
    )
    async with db.connection("test") as conn:
        rows = await conn.fetch("select question, outcome, why, response from asks order by id")
    assert [tuple(row) for row in rows] == [
        ("q", "abstention", "below_floor", {"a": 1}),
        ("", "refusal", "injection", {}),
    ]


async def test_a_stored_question_is_found_with_its_receipt(db: Database) -> None:
    log = PgAsks(db)
    await log.record(trace(Refusal(rule=Rule.EMPTY)), site="s", response={"a": 1}, receipt={"b": 2})
    stored = await log.find("id1")
    assert stored is not None
    assert (stored.question, stored.response, stored.receipt) == ("q", {"a": 1}, {"b": 2})
    assert await log.find("id2") is None


async def test_spending_is_summed_by_day_purpose_and_model(db: Database) -> None:
    book = purse(db)
    entry = await book.reserve(REQUEST, Decimal("0.5"))
    await book.settle(entry, Decimal("0.2"), Tokens(input=10, output=3))
    await book.reserve(REQUEST, Decimal("0.1"))
    [row] = await ledger.spend_by_day(db, days=1)
    assert (row.purpose, row.calls, row.open_calls) == ("answer", 2, 1)
    assert (row.input_tokens, row.output_tokens, row.usd) == (10, 3, Decimal("0.3"))


async def test_feedback_belongs_to_an_answer_and_the_last_vote_counts(db: Database) -> None:
    log = PgAsks(db)
    assert not await log.feedback("id1", vote="up", reasons=[], note="")
    await log.record(trace(Refusal(rule=Rule.EMPTY)), site="s", response={}, receipt={})
    assert await log.feedback("id1", vote="up", reasons=[], note="")
    assert await log.feedback("id1", vote="down", reasons=["wrong"], note="n")
    async with db.connection("test") as conn:
        assert await conn.fetchval("select array_agg(vote) from feedback") == ["down"]


async def test_questions_past_their_retention_are_forgotten(db: Database) -> None:
    log = PgAsks(db)
    for ask_id in ("old", "new"):
        await log.record(
            trace(Refusal(rule=Rule.EMPTY), ask_id=ask_id), site="s", response={}, receipt={}
        )
    async with db.connection("test") as conn:
        await conn.execute("update asks set asked_at = now() - interval '91 days' where id = 'old'")
    await log.forget(site="s", older_than_days=90)
    async with db.connection("test") as conn:
        assert await conn.fetchval("select array_agg(id) from asks") == ["new"]
