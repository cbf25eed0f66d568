"""ask and search: the pipeline without HTTP."""

from __future__ import annotations

import argparse

from rich.markup import escape

from service.app import App, open_app
from service.ask.guard_input import guard_input
from service.ask.pipeline import ask
from service.ask.prompts import REFUSAL_MESSAGES
from service.ask.receipt import receipt
from service.ask.retrieve import retrieve
from service.cli.terminal import console, notes, print_json
from service.settings import load_settings
from service.types import Refusal
from service.web.schemas import OutcomeOut, SearchOut, StatementOut, excerpt_out, outcome_out


async def ask_command(args: argparse.Namespace) -> int:
    """Ask one question and print its outcome."""
    settings = load_settings(site=args.site)
    async with open_app(settings, migrating=not settings.database_url) as app:
        config = app.ask_config.in_language(args.language)
        trace = await ask(args.question, site=settings.site, deps=app.deps, config=config)
        outcome = outcome_out(trace, settings.url_template)
        await app.asks.record(
            trace,
            site=settings.site,
            response=outcome.model_dump(),
            receipt=receipt(trace),
        )
    if args.json:
        print_json(outcome.model_dump())
    else:
        print_outcome(outcome)
    return 0


async def search_command(args: argparse.Namespace) -> int:
    """Print the excerpts for a question, best first; 1 if a guard refused it."""
    settings = load_settings(site=args.site)
    async with open_app(settings, migrating=not settings.database_url) as app:
        found = await _search(args.question, app, args.language)
    if isinstance(found, Refusal):
        notes.print(REFUSAL_MESSAGES[found.rule], markup=False)
        return 1
    if args.json:
        print_json(found.model_dump())
    else:
        _print_excerpts(found, explain=args.explain)
    return 0


async def _search(question: str, app: App, language: str | None) -> SearchOut | Refusal:
    admitted = guard_input(question, app.ask_config.guard_input)
    if isinstance(admitted, Refusal):
        return admitted
    settings = app.settings
    found = await retrieve(
        admitted,
        site=settings.site,
        embedder=app.deps.embedder,
        corpus=app.deps.corpus,
        config=app.ask_config.in_language(language).retrieve,
    )
    excerpts = [excerpt_out(e, settings.url_template) for e in found.excerpts]
    return SearchOut(floor=found.floor, excerpts=excerpts)


def print_outcome(outcome: OutcomeOut) -> None:
    """The outcome as a reader would want it in a terminal."""
    if outcome.message:
        console.print(f"[italic]{escape(outcome.message)}[/italic]\n")
    for statement in outcome.statements:
        _print_statement(statement)
    sources = {c.n: c for s in outcome.statements for c in s.citations}
    for n, citation in sorted(sources.items()):
        console.print(f"[{n}] {citation.title} > {citation.section}", markup=False)
        console.print(f"    {citation.url}", style="dim", markup=False, soft_wrap=True)
    if outcome.related:
        console.print("Sections that may help:")
    for related in outcome.related:
        console.print(f"  {related.title} > {related.section}", markup=False)
        console.print(f"    {related.url}", style="dim", markup=False, soft_wrap=True)
    total = sum(outcome.seconds.values())
    console.print(f"\n{total:.2f} s, {outcome.usage.cost_usd:.4f} USD", style="dim")


def _print_statement(statement: StatementOut) -> None:
    numbers = "".join(f"[{n}]" for n in dict.fromkeys(c.n for c in statement.citations))
    bullet = "- " if statement.kind == "list_item" else ""
    console.print(f"{bullet}{statement.text} {numbers}\n", markup=False)


def _print_excerpts(found: SearchOut, *, explain: bool) -> None:
    if not found.excerpts:
        console.print(f"Nothing above the floor of {found.floor:.3f}.")
    for rank, excerpt in enumerate(found.excerpts, start=1):
        console.print(
            f"[bold]{rank}. {escape(excerpt.title)} > {escape(excerpt.section)}[/bold]  "
            f"cosine {excerpt.cosine:.3f}"
        )
        if explain:
            console.print(
                f"   score {excerpt.score:.3f} = cosine {excerpt.cosine:.3f} + words: "
                f"BM25 of the chunk {excerpt.bm25:.2f}, of the article {excerpt.article_bm25:.2f}"
            )
        console.print(f"   {excerpt.url}", style="dim", markup=False, soft_wrap=True)
        console.print(f"   {' '.join(excerpt.text.split())[:300]}\n", markup=False)
