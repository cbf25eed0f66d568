"""run and serve: the service until it is told to stop."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import socket

from service.app import App, open_app, shipped_index_id
from service.calibration import articles_digest, drift
from service.cli.content import content_settings, ingest_folder, print_report
from service.cli.terminal import console, notes
from service.errors import ContentError, StoreError
from service.settings import load_settings
from service.web.api import create_api
from service.web.server import Server, address, listen

_HOUR_S = 3600.0

TRY_THESE = (
    "How is the cosine floor chosen?",
    "What happens when the API key is missing?",
    "How do I ingest my own articles?",
)

logger = logging.getLogger(__name__)


async def run(args: argparse.Namespace) -> int:
    """Migrate, ingest the content folder and serve."""
    settings = content_settings(args, content=args.content, host=args.host, port=args.port)
    listener = listen(settings.host, settings.port)
    async with open_app(settings) as app:
        report = await ingest_folder(settings, app.index.deps, prune=False)
        print_report(report)
        await _serve(app, listener)
    return 0


async def serve(args: argparse.Namespace) -> int:
    """Serve what is indexed; changes nothing in the database's tables."""
    settings = load_settings(host=args.host, port=args.port)
    listener = listen(settings.host, settings.port)
    async with open_app(settings, migrating=not settings.database_url) as app:
        stats = await app.index.corpus.stats(site=settings.site)
        if stats.chunks == 0:
            raise ContentError(
                f"site {settings.site!r} has no indexed articles; "
                "run: python -m service ingest --content DIR"
            )
        await _serve(app, listener)
    return 0


async def _serve(app: App, listener: socket.socket) -> None:
    server = Server(create_api(app))

    def stop() -> None:
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    housekeeping = asyncio.create_task(_forget_regularly(app))
    await _warn_of_drift(app)
    _greet(app, listener)
    try:
        await server.serve(sockets=[listener])
    finally:
        housekeeping.cancel()
        await asyncio.gather(housekeeping, return_exceptions=True)


async def _forget_regularly(app: App) -> None:
    """Hold the retention limit while the service runs."""
    while True:
        try:
            await app.asks.forget(
                site=app.settings.site, older_than_days=app.settings.retention_days
            )
        except StoreError as fault:
            logger.error("retention_failed fault=%s", fault)
        await asyncio.sleep(_HOUR_S)


async def _warn_of_drift(app: App) -> None:
    """A floor chosen on other articles is a guess on these."""
    if app.settings.min_score is not None:
        return
    digest = articles_digest(await app.index.corpus.texts(site=app.settings.site))
    if warning := drift(shipped_index_id(app.settings), digest):
        notes.print(f"warning: {warning}", style="yellow", markup=False)


def _greet(app: App, listener: socket.socket) -> None:
    mode = (
        "answers are written by Claude"
        if app.deps.model is not None
        else "quotes only: set ANTHROPIC_API_KEY for written answers"
    )
    console.print(f"\nAsk the Blog is listening on {address(listener)}  ({mode})", markup=False)
    console.print("Try:")
    for question in TRY_THESE:
        console.print(f"  {question}")
    console.print("Stop with Ctrl-C.")
