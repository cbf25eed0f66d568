"""migrate, models and doctor: what an operator needs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn
from rich.progress import Progress as Bar

from service.app import (
    SERVICE_ACCOUNT,
    ask_config,
    content_source,
    guard_heads,
    load_embedder,
    open_postgres,
    shipped_index_id,
)
from service.budget import price_of
from service.cli.terminal import console, notes, print_json, print_table
from service.errors import AskBlogError, ConfigError, ContentError
from service.ingest.source import read_source
from service.models import describe, fetch, known_models, locate
from service.settings import Settings, load_settings
from service.store.corpus import PgCorpus
from service.store.db import open_database
from service.store.ledger import Caps, PgLedger
from service.store.migrate import migrate, pending_migrations


async def migrate_command(args: argparse.Namespace) -> int:
    """Apply missing migrations and name them."""
    async with open_postgres(load_settings()) as url:
        applied = await migrate(url)
    for name in applied:
        console.print(f"applied {name}")
    console.print("The database is up to date.")
    return 0


async def models_command(args: argparse.Namespace) -> int:
    """List the known models, or fetch one."""
    settings = load_settings()
    if args.action == "fetch":
        return _fetch(args, settings)
    print_table(
        ("model", "dimensions", "tokens", "licence", "here", "from"),
        [
            (m.name, m.dimensions, m.max_tokens, m.licence, _state(m.name, settings), m.source)
            for m in known_models().values()
        ],
    )
    return 0


def _state(name: str, settings: Settings) -> str:
    try:
        locate(describe(name), settings.models_dir)
    except AskBlogError:
        return "no"
    return "yes"


def _fetch(args: argparse.Namespace, settings: Settings) -> int:
    description = describe(args.name)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Bar(*columns, TransferSpeedColumn(), console=notes, disable=not notes.is_terminal) as bar:
        tasks = {f.name: bar.add_task(f.name, total=f.size) for f in description.files.values()}
        fetched = fetch(
            description,
            settings.models_dir,
            from_dir=args.from_dir,
            on_bytes=lambda name, done, total: bar.update(tasks[name], completed=done),
        )
    for path in fetched:
        console.print(f"verified {path}", markup=False)
    locate(description, settings.models_dir)
    console.print(f"{description.name} is ready.")
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing the doctor looked at."""

    name: str
    ok: bool
    found: str
    mend: str = ""


async def doctor_command(args: argparse.Namespace) -> int:
    """Check everything that can be wrong; 1 if something is."""
    settings = load_settings()
    checks = [*_local_checks(settings), *await _database_checks(settings)]
    if args.json:
        print_json([asdict(check) for check in checks])
    else:
        for check in checks:
            console.print(f"{'ok  ' if check.ok else 'FAIL'} {check.name}: {check.found}")
            if check.mend:
                console.print(f"     {check.mend}", markup=False, style="bold")
    return 0 if all(check.ok for check in checks) else 1


def _local_checks(settings: Settings) -> Iterator[Check]:
    yield _model_check(settings)
    yield _guard_check(settings)
    yield _content_check(settings)
    if settings.anthropic_api_key is None:
        yield Check(name="key", ok=True, found="ANTHROPIC_API_KEY is not set: quotes mode")
    else:
        yield _key_check(settings)


def _key_check(settings: Settings) -> Check:
    try:
        for model in (settings.grader_model, settings.answer_model):
            price_of(model)
    except ConfigError as fault:
        return Check(name="key", ok=False, found="set, but a model has no price", mend=str(fault))
    models = f"{settings.grader_model} grades, {settings.answer_model} answers"
    return Check(name="key", ok=True, found=f"ANTHROPIC_API_KEY is set (not tried); {models}")


def _model_check(settings: Settings) -> Check:
    try:
        embedder = load_embedder(settings)
        config = ask_config(settings)
    except AskBlogError as fault:
        return Check(name="model", ok=False, found="not usable", mend=str(fault))
    found = f"{embedder.id} verified, cosine floor {config.retrieve.floor:.3f}"
    return Check(name="model", ok=True, found=found)


def _guard_check(settings: Settings) -> Check:
    try:
        heads = guard_heads(settings)
    except AskBlogError as fault:
        return Check(name="guard", ok=False, found="weights not readable", mend=str(fault))
    if heads is None:
        found = f"patterns only: no weights for {describe(settings.model).id}"
        mend = "weaker, but works; scripts/fit_guard.py fits weights from labelled lines"
        return Check(name="guard", ok=True, found=found, mend=mend)
    made = heads.provenance
    return Check(
        name="guard", ok=True, found=f"patterns and heads fitted {made['date']} on {made['n']} rows"
    )


def _content_check(settings: Settings) -> Check:
    try:
        folder = read_source(content_source(settings))
    except ContentError as fault:
        return Check(name="content", ok=False, found="not readable", mend=str(fault))
    found = f"{len(folder.articles)} articles, {len(folder.drafts)} drafts in {settings.content}"
    if folder.failures:
        first = folder.failures[0]
        return Check(
            name="content",
            ok=False,
            found=f"{found}, {len(folder.failures)} files cannot be read",
            mend=f"first: {first.message}",
        )
    return Check(name="content", ok=True, found=found)


async def _database_checks(settings: Settings) -> list[Check]:
    where = "DATABASE_URL" if settings.database_url else f"embedded, {settings.data_dir}"
    checks = []
    try:
        async with open_postgres(settings) as url:
            pending = await pending_migrations(url)
            checks.append(Check(name="database", ok=True, found=f"reachable ({where})"))
            checks.append(
                Check(
                    name="migrations",
                    ok=not pending,
                    found=f"{len(pending)} missing" if pending else "all applied, pgvector present",
                    mend="run: python -m service migrate" if pending else "",
                )
            )
            if not pending:
                checks += await _index_checks(settings, url)
    except AskBlogError as fault:
        checks.append(
            Check(name="database", ok=False, found=f"not usable ({where})", mend=str(fault))
        )
    return checks


async def _index_checks(settings: Settings, url: str) -> list[Check]:
    db = await open_database(url)
    try:
        stats = await PgCorpus(db).stats(site=settings.site)
        ledger = PgLedger(
            db,
            account=SERVICE_ACCOUNT,
            caps=Caps(daily=settings.daily_usd, monthly=settings.monthly_usd),
        )
        spent = await ledger.spent()
    finally:
        await db.close()
    same = stats.index_id == shipped_index_id(settings)
    made_with = f", made with {stats.index_id}" if stats.index_id else ""
    index = Check(
        name="index",
        ok=stats.chunks > 0 and same,
        found=f"{stats.articles} articles, {stats.chunks} chunks{made_with}",
        mend="" if stats.chunks and same else "run: python -m service ingest",
    )
    money = Check(
        name="budget",
        ok=True,
        found=f"{spent.day:.4f} of {settings.daily_usd} USD today, "
        f"{spent.month:.4f} of {settings.monthly_usd} USD this month",
    )
    return [index, money]
