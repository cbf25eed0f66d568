"""Every test runs with a clean environment and no network but loopback."""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import hypothesis
import pytest
import respx
from anyio.from_thread import start_blocking_portal
from respx.mocks import HTTPCoreMocker

from service.app import load_embedder
from service.embedder import OnnxEmbedder
from service.settings import Settings
from service.store.db import Database, open_database
from service.store.embedded import EmbeddedPostgres
from service.store.migrate import migrate
from tests.processes import data_directory

# The same examples each time; HYPOTHESIS_PROFILE=search looks for new ones.
hypothesis.settings.register_profile("steady", derandomize=True, deadline=None)
hypothesis.settings.register_profile("search", max_examples=2000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

_OURS = re.compile(r"^(ASK_BLOG_|RAG_|ANTHROPIC_|DATABASE_URL$)")
_LOCAL = {"127.0.0.1", "::1", "localhost"}


class HTTPCore2Mocker(HTTPCoreMocker):
    """respx for httpx2, which the Claude SDK and our downloads use."""

    name = "httpcore2"
    targets = [t.replace("httpcore.", "httpcore2.") for t in HTTPCoreMocker.targets]  # noqa: RUF012


@pytest.fixture(autouse=True, scope="session")
def no_network_but_loopback() -> Iterator[None]:
    """A test that would reach a stranger fails at once, and says whom."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in _LOCAL:
            raise AssertionError(f"a test tried to reach {address}")
        connect(self, address)

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", guarded)
    yield
    patch.undo()


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if _OURS.match(name):
            monkeypatch.delenv(name)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def claude() -> Iterator[respx.MockRouter]:
    """Claude's API on the wire; nothing leaves the process."""
    with respx.mock(
        using="httpcore2", base_url="https://api.anthropic.com", assert_all_called=False
    ) as router:
        yield router


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A server for the whole run with a migrated template database."""
    with (
        data_directory() as folder,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(EmbeddedPostgres(folder)) as server,
    ):
        portal.call(migrate, server.url)
        yield server.url


@pytest.fixture
async def database_url(postgres_url: str) -> AsyncIterator[str]:
    """An empty migrated database of the test's own."""
    name = f"test_{secrets.token_hex(4)}"
    admin = await asyncpg.connect(postgres_url.replace("/ask_blog?", "/postgres?"))
    await admin.execute(f"create database {name} template ask_blog")
    yield postgres_url.replace("/ask_blog?", f"/{name}?")
    await admin.execute(f"drop database if exists {name} with (force)")
    await admin.close()


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    database = await open_database(database_url)
    yield database
    await database.close()


@pytest.fixture(scope="session")
def embedder() -> OnnxEmbedder:
    """The real default model."""
    return load_embedder(Settings())


@pytest.fixture
def blog(tmp_path: Path) -> Path:
    """A folder with two small articles."""
    folder = tmp_path / "articles"
    folder.mkdir()
    (folder / "bread.md").write_text(
        "---\ntitle: Baking bread\n---\n\nBread needs flour, water, salt and time.\n\n"
        "## The dough\n\nKnead the dough for ten minutes. It should feel smooth.\n\n"
        "## The oven\n\nBake at 230 degrees for 40 minutes:\n\n"
        "```sh\noven --temperature 230 --minutes 40\n```\n",
        "utf-8",
    )
    (folder / "bikes.mdx").write_text(
        "---\ntitle: Fixing bikes\n---\n\nimport X from './x'\n\n"
        "## A flat tyre\n\nTake the wheel off and pull the tube out.\n\n"
        "## Squeaking brakes\n\n<Tip>Clean the rim with alcohol first.</Tip>\n",
        "utf-8",
    )
    return folder
