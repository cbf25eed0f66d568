"""The real service over HTTP: real Postgres, real model, and Claude's wire format on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx2
import pytest

from service.app import App, open_app
from service.ingest.pipeline import Progress, ingest
from service.ingest.source import Source
from service.settings import load_settings
from service.web.api import create_api
from service.web.server import Server, listen
from tests.fake_claude import FakeClaude, serving

FLOOR = 0.2  # low enough for the tiny blog of these tests


class Service(Protocol):
    """Starts a service with these settings; a client for it."""

    async def __call__(self, **settings: Any) -> httpx2.AsyncClient: ...


@pytest.fixture
def fake_claude() -> Iterator[FakeClaude]:
    """Claude's API on loopback; its address is in `url`."""
    fake = FakeClaude()
    with serving(fake.app) as url:
        fake.url = url
        yield fake


async def open_test_app(
    stack: AsyncExitStack, blog: Path, database_url: str, **settings: Any
) -> App:
    """An app on its own database with the tiny blog ingested."""
    defaults = {"database_url": database_url, "min_score": FLOOR, "content": blog}
    app = await stack.enter_async_context(open_app(load_settings({}, **{**defaults, **settings})))
    source = Source(folder=blog)
    await ingest(source, site=app.settings.site, deps=app.index.deps, progress=Progress())
    return app


@pytest.fixture
async def service(blog: Path, database_url: str) -> AsyncIterator[Service]:
    """A factory of running services, each behind a real socket."""
    async with AsyncExitStack() as stack:

        async def start(**settings: Any) -> httpx2.AsyncClient:
            app = await open_test_app(stack, blog, database_url, **settings)
            url = await stack.enter_async_context(_listening(app))
            return await stack.enter_async_context(
                httpx2.AsyncClient(base_url=url, timeout=30, trust_env=False)
            )

        yield start


@asynccontextmanager
async def _listening(app: App) -> AsyncIterator[str]:
    listener = listen("127.0.0.1", 0)
    server = Server(create_api(app))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    await task
