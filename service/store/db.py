"""Connections: a pool with the vector codec, and one translation of driver errors to StoreError."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import asyncpg
import pgvector.asyncpg

from service.errors import StoreError

Connection: TypeAlias = Any  # asyncpg's pool hands out a proxy that its annotations do not name
Row: TypeAlias = Any

_POOL_SIZE = 8  # chosen, not measured
_CONNECT_TIMEOUT_S = 10.0  # chosen, not measured
_COMMAND_TIMEOUT_S = 30.0  # chosen, not measured: an ingest of a large blog writes for seconds
_DRIVER_FAULTS = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)


@asynccontextmanager
async def store_faults(doing: str) -> AsyncIterator[None]:
    """Turn what the driver raises into StoreError that says what was being done."""
    try:
        yield
    except _DRIVER_FAULTS as fault:
        raise StoreError(f"{doing}: {type(fault).__name__}: {fault}".rstrip(": ")) from fault


class Database:
    """A pool of connections. Opened by `open_database`, closed by its owner."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    @asynccontextmanager
    async def connection(self, doing: str) -> AsyncIterator[Connection]:
        """A connection for one piece of work. Raises StoreError for anything the driver raises."""
        async with store_faults(doing), self._pool.acquire(timeout=_CONNECT_TIMEOUT_S) as conn:
            yield conn

    @asynccontextmanager
    async def transaction(self, doing: str) -> AsyncIterator[Connection]:
        """As `connection`, inside a transaction."""
        async with self.connection(doing) as conn, conn.transaction():
            yield conn

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()


async def connect_once(url: str) -> Connection:
    """One plain connection, without the codec: for migrations and checks. Raises StoreError."""
    async with store_faults("connecting to Postgres"):
        return await asyncpg.connect(url, timeout=_CONNECT_TIMEOUT_S)


async def open_database(url: str) -> Database:
    """A pool on a migrated database. Raises StoreError."""
    async with store_faults("connecting to Postgres"):
        pool = await asyncpg.create_pool(
            url,
            min_size=0,  # a floor would be restored, with a traceback each time, while it is down
            max_size=_POOL_SIZE,
            init=_prepare,
            timeout=_CONNECT_TIMEOUT_S,
            command_timeout=_COMMAND_TIMEOUT_S,
            # nearest() is bound with a different vector each time: a generic plan never helps
            server_settings={"plan_cache_mode": "force_custom_plan"},
        )
        async with pool.acquire():
            pass  # tables that are missing are told now, and not to the first reader
    return Database(pool)


async def _prepare(conn: Connection) -> None:
    try:
        await pgvector.asyncpg.register_vector(conn)
    except ValueError as fault:  # the type does not exist yet
        raise StoreError(
            "the database has no pgvector tables; run: python -m service migrate"
        ) from fault
    await conn.set_type_codec("jsonb", encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
