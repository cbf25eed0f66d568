"""Composition root: the only place where the parts are joined, opened and closed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from service.ask.answer import AnswerConfig
from service.ask.grade import GradeConfig
from service.ask.guard_heads import Heads, heads_of
from service.ask.guard_input import GuardInputConfig
from service.ask.pipeline import AskConfig
from service.ask.retrieve import RetrieveConfig
from service.budget import price_of
from service.calibration import floor_for
from service.embedder import OnnxEmbedder
from service.errors import ConfigError, StoreError
from service.ingest.chunk import ChunkRules, TokenChunker
from service.ingest.pipeline import IngestDeps, index_id
from service.ingest.source import Source
from service.models import ModelDescription, describe
from service.ports import Deps
from service.settings import Settings
from service.store.asks import PgAsks
from service.store.corpus import PgCorpus
from service.store.db import Database, open_database
from service.store.embedded import EmbeddedPostgres
from service.store.eval_runs import PgEvalRuns
from service.store.index import PgIndex
from service.store.ledger import Caps, PgLedger
from service.store.migrate import migrate, pending_migrations

if TYPE_CHECKING:
    from service.claude import Claude

SERVICE_ACCOUNT = "service"
HEADS_FILE = Path(__file__).with_name("guard_heads.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIndex:
    """The database and the embedder: enough to read and write articles."""

    db: Database
    corpus: PgCorpus
    embedder: OnnxEmbedder
    deps: IngestDeps


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """Everything that answers questions, open and ready."""

    settings: Settings
    deps: Deps
    ask_config: AskConfig
    index: OpenIndex
    asks: PgAsks
    eval_runs: PgEvalRuns
    ledger: PgLedger


def content_source(settings: Settings) -> Source:
    """Where the articles come from."""
    return Source(
        folder=settings.content,
        format=settings.content_format,
        anchors=settings.anchors,
        main_selector=settings.main_selector,
        drop_selectors=settings.drop_selectors,
    )


def load_embedder(settings: Settings, models_dir: Path | None = None) -> OnnxEmbedder:
    """The configured embedding model, verified. Raises ConfigError, ModelFileError."""
    return OnnxEmbedder(describe(settings.model), models_dir or settings.models_dir)


def chunk_rules(model: ModelDescription) -> ChunkRules:
    """The chunk budgets of the model."""
    return ChunkRules(target_tokens=model.chunk_target_tokens, max_tokens=model.max_tokens)


def shipped_index_id(settings: Settings) -> str:
    """What the configured model and the chunker make. Raises ConfigError."""
    model = describe(settings.model)
    return index_id(model.id, chunk_rules(model).id)


def chunker_for(embedder: OnnxEmbedder) -> TokenChunker:
    """Cuts to the embedder's budgets, counted by its tokenizer."""
    return TokenChunker(tokenizer=embedder.tokenizer, rules=chunk_rules(embedder.description))


def ask_config(settings: Settings) -> AskConfig:
    """The stages' knobs. Raises ConfigError where no floor is known."""
    floor = settings.min_score
    return AskConfig(
        retrieve=RetrieveConfig(
            floor=floor_for(shipped_index_id(settings)) if floor is None else floor,
            top_k=settings.top_k,
            max_per_article=settings.max_per_article,
            mode=settings.rag_mode,
        ),
        grade=GradeConfig(model=settings.grader_model),
        answer=AnswerConfig(model=settings.answer_model),
        guard_input=GuardInputConfig(pii=settings.pii, heads=guard_heads(settings)),
    )


def guard_heads(settings: Settings, file: Path = HEADS_FILE) -> Heads | None:
    """The input guard's heads where they were fitted for this embedder, else None: patterns only.

    Raises ConfigError where the file is there but cannot be read.
    """
    if not file.is_file():
        return None
    try:
        heads = heads_of(json.loads(file.read_text("utf-8")))
    except (ValueError, KeyError, TypeError) as fault:
        raise ConfigError(f"{file}: not a weight file of the guard: {fault}") from fault
    return heads if heads.embedder_id == describe(settings.model).id else None


@asynccontextmanager
async def open_postgres(settings: Settings) -> AsyncIterator[str]:
    """The database's address; embedded Postgres runs while the context is open."""
    if settings.database_url:
        yield settings.database_url
        return
    async with EmbeddedPostgres(settings.data_dir) as postgres:
        yield postgres.url


@asynccontextmanager
async def open_index(
    settings: Settings, *, migrating: bool = True, models_dir: Path | None = None
) -> AsyncIterator[OpenIndex]:
    """What an ingest needs. Raises every kind of AskBlogError."""
    async with AsyncExitStack() as stack:
        embedder = load_embedder(settings, models_dir)
        url = await stack.enter_async_context(open_postgres(settings))
        if migrating:
            await migrate(url)
        elif pending := await pending_migrations(url):
            raise StoreError(
                f"the database lacks {len(pending)} migrations, first {pending[0]}; "
                "run: python -m service migrate"
            )
        db = await open_database(url)
        stack.push_async_callback(db.close)
        corpus = PgCorpus(db)
        deps = IngestDeps(embedder=embedder, chunker=chunker_for(embedder), index=PgIndex(db))
        yield OpenIndex(db=db, corpus=corpus, embedder=embedder, deps=deps)


@asynccontextmanager
async def open_app(settings: Settings, *, migrating: bool = True) -> AsyncIterator[App]:
    """The whole service, closed in reverse order. Raises every kind of AskBlogError."""
    async with AsyncExitStack() as stack:
        index = await stack.enter_async_context(open_index(settings, migrating=migrating))
        ledger = PgLedger(
            index.db,
            account=SERVICE_ACCOUNT,
            caps=Caps(daily=settings.daily_usd, monthly=settings.monthly_usd),
        )
        claude = open_claude(settings, ledger)
        if claude is not None:
            stack.push_async_callback(claude.close)
        yield App(
            settings=settings,
            deps=Deps(embedder=index.embedder, corpus=index.corpus, model=claude),
            ask_config=ask_config(settings),
            index=index,
            asks=PgAsks(index.db),
            eval_runs=PgEvalRuns(index.db),
            ledger=ledger,
        )


def open_claude(settings: Settings, ledger: PgLedger) -> Claude | None:
    """The client, or None without a key. Raises ConfigError for a model without a price.

    Its SDK is imported here, since that takes longer than everything else at start.
    """
    if settings.anthropic_api_key is None:
        return None
    for model in (settings.grader_model, settings.answer_model):
        price_of(model)
    from service.claude import Claude

    return Claude(
        api_key=settings.anthropic_api_key.get_secret_value(),
        ledger=ledger,
        base_url=settings.anthropic_base_url,
    )
