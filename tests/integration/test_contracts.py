"""The fakes keep the promises of the real things: the same tests run over both."""

from __future__ import annotations

import asyncio
from array import array
from decimal import Decimal

import numpy as np
import pytest

from service.budget import Ledger, Tokens
from service.embedder import OnnxEmbedder, OnnxTokenizer
from service.errors import BudgetExceeded
from service.ingest.pipeline import sha256
from service.ports import Corpus, Embedder, Index, ReplacedArticle, Tokenizer
from service.store.corpus import PgCorpus
from service.store.db import Database
from service.store.index import PgIndex
from service.store.ledger import Caps, PgLedger
from service.terms import term_counts
from service.types import ModelRequest
from tests.builders import make_article, make_chunk, make_excerpt
from tests.fakes import FixedCorpus, HashEmbedder, MemoryIndex, MemoryLedger, WordTokenizer

VECTOR = array("f", [1.0] + [0.0] * 383)


@pytest.fixture(params=["fake", "real"])
def any_embedder(request: pytest.FixtureRequest, embedder: OnnxEmbedder) -> Embedder:
    return embedder if request.param == "real" else HashEmbedder()


async def test_embedders_give_unit_vectors_of_one_length(any_embedder: Embedder) -> None:
    vectors = [await any_embedder.embed_query(t) for t in ("", "one", "two words")]
    vectors += await any_embedder.embed_passages(["one", "three more words"])
    assert len({len(v) for v in vectors}) == 1
    for vector in vectors:
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


async def test_embedders_are_deterministic_and_keep_order(any_embedder: Embedder) -> None:
    first = await any_embedder.embed_passages(["bread", "a much longer text", "bread"])
    assert list(first[0]) == pytest.approx(list(first[2]), abs=1e-6)
    assert list(first[0]) != pytest.approx(list(first[1]), abs=1e-2)


@pytest.fixture(params=["fake", "real"])
def any_tokenizer(request: pytest.FixtureRequest, embedder: OnnxEmbedder) -> Tokenizer:
    real: OnnxTokenizer = embedder.tokenizer
    return real if request.param == "real" else WordTokenizer()


@pytest.mark.parametrize("text", ["", "one two", "a-b, c!", "line\nbreak  ", "naïve café 😀"])
def test_tokenizers_count_two_special_tokens_more_than_spans(
    any_tokenizer: Tokenizer, text: str
) -> None:
    spans = any_tokenizer.spans(text)
    assert any_tokenizer.count(text) == len(spans) + 2
    assert all(0 <= s <= e <= len(text) for s, e in spans)
    assert list(spans) == sorted(spans)


def replaced(slug: str) -> ReplacedArticle:
    chunk = make_chunk(f"Text of {slug}.", slug=slug)
    return ReplacedArticle(
        article=make_article(("One", [chunk.text]), slug=slug),
        fingerprint=f"mark-{slug}",
        chunks=(chunk,),
        term_counts=(term_counts(chunk.text),),
        embedded_hashes=(sha256(chunk.text),),
        vectors=(VECTOR,),
    )


@pytest.fixture(params=["fake", "real"])
def any_index(request: pytest.FixtureRequest, db: Database) -> Index:
    return PgIndex(db) if request.param == "real" else MemoryIndex()


async def test_indexes_hold_what_was_written_until_it_is_removed(any_index: Index) -> None:
    ids = {"index_id": "m+c", "embedder_id": "m"}
    await any_index.replace(site="s", articles=[replaced("b"), replaced("a")], removed=[], **ids)
    stored = await any_index.stored_articles(site="s", index_id="m+c")
    assert [(a.slug, a.fingerprint) for a in stored] == [("a", "mark-a"), ("b", "mark-b")]
    await any_index.replace(site="s", articles=[], removed=["a"], **ids)
    stored = await any_index.stored_articles(site="s", index_id="m+c")
    assert [a.slug for a in stored] == ["b"]


async def test_indexes_know_fingerprints_by_index_id_and_vectors_by_model(
    any_index: Index,
) -> None:
    await any_index.replace(
        site="s", index_id="m+c", embedder_id="m", articles=[replaced("a")], removed=[]
    )
    [stored] = await any_index.stored_articles(site="s", index_id="other")
    assert stored.fingerprint == ""
    digest = sha256("Text of a.")
    assert await any_index.known_vectors(site="s", embedder_id="other", hashes=[digest]) == {}
    known = await any_index.known_vectors(site="s", embedder_id="m", hashes=[digest, "x"])
    assert known == {digest: VECTOR}


async def test_indexes_keep_pending_vectors_until_the_switch(any_index: Index) -> None:
    ids = {"site": "s", "embedder_id": "m"}
    await any_index.keep_pending(vectors={"d": VECTOR}, **ids)
    await any_index.keep_pending(vectors={"d": VECTOR}, **ids)
    assert await any_index.known_vectors(hashes=["d", "e"], **ids) == {"d": VECTOR}
    assert await any_index.known_vectors(site="s", embedder_id="n", hashes=["d"]) == {}
    await any_index.replace(index_id="m+c", articles=[], removed=[], **ids)
    assert await any_index.known_vectors(hashes=["d"], **ids) == {}


async def test_an_index_is_held_by_one_ingest_at_a_time(any_index: Index) -> None:
    order: list[str] = []

    async def work(name: str) -> None:
        async with any_index.exclusive(site="s", on_wait=lambda: order.append(f"{name} waits")):
            order.append(f"{name} begins")
            await asyncio.sleep(0.05)
            order.append(f"{name} ends")

    await asyncio.gather(work("a"), work("b"))
    assert order == ["a begins", "b waits", "a ends", "b begins", "b ends"]


@pytest.fixture(params=["fake", "real"])
async def any_corpus(request: pytest.FixtureRequest, db: Database) -> Corpus:
    if request.param == "fake":
        return FixedCorpus([make_excerpt(cosine=1.0, slug=s) for s in ("b", "a")])
    await PgIndex(db).replace(
        site="s",
        index_id="m+c",
        embedder_id="m",
        articles=[replaced("b"), replaced("a")],
        removed=[],
    )
    return PgCorpus(db)


async def test_corpora_give_at_most_the_limit_nearest_first_ties_by_slug(
    any_corpus: Corpus,
) -> None:
    search = {"site": "s", "embedder_id": "m", "vector": VECTOR}
    both = await any_corpus.nearest(limit=9, **search)
    assert [e.chunk.slug for e in both] == ["a", "b"]
    assert await any_corpus.nearest(limit=1, **search) == both[:1]


@pytest.fixture(params=["fake", "real"])
def any_ledger(request: pytest.FixtureRequest, db: Database) -> Ledger:
    if request.param == "fake":
        return MemoryLedger("1")
    return PgLedger(db, account="a", caps=Caps(daily=Decimal(1), monthly=Decimal(1)))


async def test_ledgers_refuse_what_could_pass_the_cap_and_free_what_is_settled(
    any_ledger: Ledger,
) -> None:
    request = ModelRequest(
        purpose="grade",
        model="claude-haiku-5-5",
        system="",
        sources=(),
        prompt="",
        max_tokens=1,
        timeout_s=1,
    )
    entry = await any_ledger.reserve(request, Decimal("0.8"))
    with pytest.raises(BudgetExceeded):
        await any_ledger.reserve(request, Decimal("0.3"))
    await any_ledger.settle(entry, Decimal("0.1"), Tokens(input=1, output=1))
    await any_ledger.settle(entry, Decimal("0.0"), Tokens(input=1, output=1))
    await any_ledger.reserve(request, Decimal("0.9"))
    with pytest.raises(BudgetExceeded):
        await any_ledger.reserve(request, Decimal("0.01"))
