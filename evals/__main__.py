"""python -m evals retrieval | calibrate | compare | chunking | guards | live | mine | speed."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from evals.cli_calibrate import add_calibrate_options, run_calibrate
from evals.cli_compare import add_compare
from evals.configs import EvalConfig, chunking_names, named_config
from evals.dataset import load_dataset
from evals.guards import add_guards
from evals.live import live
from evals.mine import as_yaml, candidates
from evals.outputs import add_outputs, print_figures, write_outputs
from evals.related import mean_jaccard, related_slugs
from evals.retrieval import config_of, per_question, provenance, summary
from evals.search import open_workbench, rank
from evals.speed import measure
from evals.types import Ranked
from service.app import content_source, open_app
from service.cli.terminal import console, notes, print_table, progress_bar
from service.errors import AskBlogError, ConfigError
from service.ingest.source import read_source
from service.settings import Settings, load_settings

QUESTIONS = Path(__file__).with_name("questions.yaml")


def parser() -> argparse.ArgumentParser:
    """Every command with its options."""
    top = argparse.ArgumentParser(
        prog="python -m evals", description="Measures the service on labelled questions."
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, run, summary_ in (
        ("retrieval", _retrieval, "measure retrieval; needs neither key nor server"),
        ("calibrate", run_calibrate, "choose the cosine floor and write service/calibration.json"),
        ("chunking", _chunking, "compare ways to cut articles, with and without header"),
        ("live", _live, "measure the live index and keep the result for the dashboard"),
        ("mine", _mine, "print readers' questions that went badly, to be labelled"),
        ("speed", _speed, "measure ingest and search against the bare model"),
    ):
        sub = commands.add_parser(name, help=summary_, description=summary_)
        sub.set_defaults(run=run)
        sub.add_argument("--content", type=Path, metavar="DIR", help="folder of articles")
        if name != "speed":
            sub.add_argument("--questions", type=Path, default=QUESTIONS, metavar="FILE")
    for sub in (commands.choices["retrieval"], commands.choices["chunking"]):
        sub.add_argument("--split", choices=("dev", "heldout", "all"), default="all")
        sub.add_argument("--embeddings", choices=("onnx", "hash"), default="onnx")
        add_outputs(sub)
    retrieval = commands.choices["retrieval"]
    retrieval.add_argument("--configs", default="default", help="names separated by commas")
    retrieval.add_argument("--max-per-article", type=int, metavar="N")
    mine = commands.choices["mine"]
    mine.add_argument("--low-score", type=float, default=0.3, metavar="COSINE")
    mine.add_argument("--limit", type=int, default=500, help="questions looked at, newest first")
    add_calibrate_options(commands.choices["calibrate"])
    commands.choices["speed"].add_argument(
        "--json", type=Path, metavar="OUT", help="write the figures to a file"
    )
    add_compare(commands)
    add_guards(commands)
    return top


def main(argv: list[str] | None = None) -> int:
    """Run a command; its exit status: 0 fine, 1 something broke, 2 bad use."""
    args = parser().parse_args(argv)
    try:
        status: int = asyncio.run(args.run(args))
    except AskBlogError as fault:
        print(f"evals: {fault}", file=sys.stderr)
        return 2 if isinstance(fault, ConfigError) else 1
    return status


async def _retrieval(args: argparse.Namespace) -> int:
    names = args.configs.split(",")
    settings = load_settings(content=args.content, max_per_article=args.max_per_article)
    configs = [named_config(name, config_of(settings)) for name in names]
    return await _side_by_side(args, settings, configs)


async def _chunking(args: argparse.Namespace) -> int:
    settings = load_settings(content=args.content)
    shipped = config_of(settings)
    configs = [EvalConfig(name=n, chunker=n, retrieve=shipped) for n in chunking_names()]
    return await _side_by_side(args, settings, configs)


async def _side_by_side(
    args: argparse.Namespace, settings: Settings, configs: Sequence[EvalConfig]
) -> int:
    ranked: dict[str, list[Ranked]] = {}
    made: dict[str, dict[str, float | None]] = {}
    first: dict[str, frozenset[str]] = {}
    async with open_workbench(settings, embeddings=args.embeddings) as bench:
        dataset = load_dataset(args.questions, bench.articles)
        questions = dataset.split(args.split)
        for config in configs:
            with progress_bar(config.name) as progress:
                chunked = await bench.chunked(config.chunker, progress)
                ranked[config.name] = await rank(
                    questions, opened=chunked.index, config=config.retrieve
                )
            related = await related_slugs(
                bench.opened.corpus, bench.articles, site=chunked.index.site
            )
            first = first or related
            made[config.name] = {
                "chunks": chunked.chunks,
                "over_the_limit": chunked.cut,
                "related_overlap": mean_jaccard(first, related),
            }
    report = {
        "configs": {name: {**summary(found), **made[name]} for name, found in ranked.items()},
        "per_question": {name: per_question(found) for name, found in ranked.items()},
        "provenance": provenance(dataset, settings, embeddings=args.embeddings, split=args.split),
    }
    write_outputs(args, report, ranked)
    print_figures(report)
    _print_made(made)
    if args.embeddings == "hash":
        notes.print("hashed vectors measure wiring, not meaning: these figures prove nothing else")
    return 0


def _print_made(made: Mapping[str, Mapping[str, float | None]]) -> None:
    """How each configuration cut, and how far its related articles are those of the first."""
    for name, figures in made.items():
        overlap = figures["related_overlap"]
        console.print(
            f"{name}: {figures['chunks']} chunks, {figures['over_the_limit']} over the model's "
            f"limit, related articles as the first configuration's: "
            f"{'unscored' if overlap is None else f'{overlap:.2f}'}",
            markup=False,
        )


async def _speed(args: argparse.Namespace) -> int:
    settings = load_settings(content=args.content)
    async with open_workbench(settings) as bench:
        speed = await measure(bench, content_source(settings))
    figures = asdict(speed)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    print_table(("figure", "value"), [(name, f"{value:.3f}") for name, value in figures.items()])
    return 0


async def _live(args: argparse.Namespace) -> int:
    settings = load_settings(content=args.content)
    async with open_app(settings, migrating=not settings.database_url) as app:
        figures = await live(app, content_source(settings), args.questions)
    print_figures({"configs": {"live": figures}})
    return 0


async def _mine(args: argparse.Namespace) -> int:
    settings = load_settings(content=args.content)
    async with open_app(settings, migrating=False) as app:
        articles = read_source(content_source(settings)).articles
        known = [q.text for q in load_dataset(args.questions, articles).questions]
        asked = await app.asks.poorly_answered(
            site=settings.site, low_score=args.low_score, limit=args.limit
        )
        found = await candidates(asked, known, embedder=app.deps.embedder)
    print(as_yaml(found), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
