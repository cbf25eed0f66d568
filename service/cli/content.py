"""ingest and inspect: the ways in for articles."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

import watchfiles

from service.app import chunker_for, content_source, load_embedder, open_index
from service.cli.terminal import console, notes, print_json, print_table, progress_bar
from service.errors import ContentError
from service.ingest.coverage import covered_share, duplicate_paragraphs
from service.ingest.pipeline import IngestDeps, IngestReport, ingest
from service.ingest.source import read_source
from service.settings import Settings, load_settings
from service.types import Article, Chunk


async def ingest_command(args: argparse.Namespace) -> int:
    """Ingest a folder and print the counts; 1 if a file could not be read."""
    settings = content_settings(args, content=args.content, site=args.site)
    async with open_index(settings) as index:
        report = await ingest_folder(settings, index.deps, prune=args.prune)
        _show(report, as_json=args.json)
        if args.watch:
            await _watch(settings, index.deps, args)
    return 1 if report.failures else 0


def content_settings(args: argparse.Namespace, **options: object) -> Settings:
    """Settings with the options that say how a folder is read."""
    read_as = {"content_format": args.format, "main_selector": args.main_selector}
    return load_settings(None, **read_as, **options)


async def _watch(settings: Settings, deps: IngestDeps, args: argparse.Namespace) -> None:
    """Ingest again whenever something below the folder is saved, until interrupted."""
    notes.print(f"watching {settings.content}; stop with Ctrl-C", markup=False)
    async for _ in watchfiles.awatch(settings.content, stop_event=None):
        try:
            report = await ingest_folder(settings, deps, prune=args.prune)
        except ContentError as fault:
            notes.print(f"failed: {fault}", style="red", markup=False)
        else:
            _show(report, as_json=args.json)


def _show(report: IngestReport, *, as_json: bool) -> None:
    if as_json:
        print_json(report_json(report))
    else:
        print_report(report)


async def ingest_folder(settings: Settings, deps: IngestDeps, *, prune: bool) -> IngestReport:
    """Ingest with a progress bar where there is a terminal."""
    with progress_bar("embedding") as progress:
        return await ingest(
            content_source(settings), site=settings.site, deps=deps, prune=prune, progress=progress
        )


def report_json(report: IngestReport) -> dict[str, Any]:
    """The counts, for programs."""
    return asdict(report)


def print_report(report: IngestReport) -> None:
    """The counts, for people; what needs attention goes to standard error."""
    console.print(
        f"{report.added} added, {report.changed} changed, {report.unchanged} unchanged, "
        f"{report.removed} removed, {report.drafts} drafts skipped"
    )
    console.print(
        f"{report.chunks} chunks: {report.embedded} embedded, {report.reused} reused, "
        f"{report.truncated} truncated, in {report.seconds:.1f} s"
    )
    for warning in report.warnings:
        notes.print(f"warning: {warning}", style="yellow", markup=False)
    if report.kept:
        notes.print(
            f"{len(report.kept)} indexed articles are not in the folder (kept; --prune removes "
            f"them once every file can be read): {', '.join(report.kept[:5])}",
            style="yellow",
            markup=False,
        )
    for failure in report.failures:
        notes.print(f"failed: {failure.message}", style="red", markup=False)


async def inspect_command(args: argparse.Namespace) -> int:
    """Show how articles are read and cut, without a database; 1 if a file could not be read."""
    settings = content_settings(args, content=args.path)
    embedder = load_embedder(settings)
    folder = read_source(content_source(settings))
    chunker = chunker_for(embedder)
    inspected = [(a, chunker.chunks(a, site=settings.site)) for a in folder.articles]
    if args.json:
        for article, chunks in inspected:
            print_json(inspected_json(article, chunks))
    else:
        _print_inspected(inspected)
    for failure in folder.failures:
        notes.print(f"failed: {failure.message}", style="red", markup=False)
    return 1 if folder.failures else 0


def inspected_json(article: Article, chunks: tuple[Chunk, ...]) -> dict[str, Any]:
    """One article as `inspect --json` prints it."""
    return {
        "slug": article.slug,
        "title": article.title,
        "text": article.text,
        "sections": [
            {
                "anchor": s.anchor,
                "heading": s.heading,
                "level": s.level,
                "start": s.start,
                "end": s.end,
            }
            for s in article.sections
        ],
        "chunks": [
            {"anchor": c.anchor, "start": c.start, "end": c.end, "tokens": c.tokens} for c in chunks
        ],
        "coverage": article.coverage * covered_share(article, chunks),
        "warnings": list(article.warnings),
    }


def _print_inspected(inspected: list[tuple[Article, tuple[Chunk, ...]]]) -> None:
    print_table(
        ("article", "language", "sections", "chunks", "longest", "coverage", "warnings"),
        [
            (
                a.slug,
                a.language,
                len(a.sections),
                len(chunks),
                f"{max((c.tokens for c in chunks), default=0)} tokens",
                f"{a.coverage * covered_share(a, chunks):.2%}",
                len(a.warnings),
            )
            for a, chunks in inspected
        ],
    )
    for text, slugs in duplicate_paragraphs(a for a, _ in inspected):
        notes.print(f"the same in {', '.join(slugs)}: {text[:80]}…", style="yellow", markup=False)
    for article, _ in inspected:
        for warning in article.warnings:
            notes.print(f"warning: {article.slug}: {warning}", style="yellow", markup=False)
