"""Applies migrations/*.sql once each, in order of their names, under a lock."""

from __future__ import annotations

from pathlib import Path

from service.errors import StoreError
from service.store.db import connect_once, store_faults

MIGRATIONS_DIR = Path(__file__).parents[2] / "migrations"

_LOCK = "select pg_advisory_xact_lock(hashtextextended('ask-the-blog migrations', 0))"
_LEDGER = """
create table if not exists schema_migrations (
  name text primary key,
  applied_at timestamptz not null default now()
)
"""
_APPLIED = "select name from schema_migrations"
_RECORD = "insert into schema_migrations (name) values ($1)"
_EXISTS = "select to_regclass('schema_migrations') is not null"


def migration_files(folder: Path = MIGRATIONS_DIR) -> list[Path]:
    """The migrations in order. Raises StoreError if there are none."""
    files = sorted(folder.glob("[0-9]*.sql"))
    if not files:
        raise StoreError(f"{folder}: no migrations found; the installation is incomplete")
    return files


async def migrate(url: str) -> list[str]:
    """Apply what is missing, all or nothing; the names applied. Raises StoreError."""
    conn = await connect_once(url)
    try:
        async with store_faults("migrating"), conn.transaction():
            await conn.execute(_LOCK)
            await conn.execute(_LEDGER)
            applied = {row["name"] for row in await conn.fetch(_APPLIED)}
            missing = [file for file in migration_files() if file.name not in applied]
            for file in missing:
                await conn.execute(file.read_text("utf-8"))
                await conn.execute(_RECORD, file.name)
        return [file.name for file in missing]
    finally:
        await conn.close()


async def pending_migrations(url: str) -> list[str]:
    """Names of migrations that the database has not seen. Raises StoreError."""
    conn = await connect_once(url)
    try:
        async with store_faults("reading the migrations"):
            known = await conn.fetchval(_EXISTS)
            applied = {row["name"] for row in await conn.fetch(_APPLIED)} if known else set()
        return [file.name for file in migration_files() if file.name not in applied]
    finally:
        await conn.close()
