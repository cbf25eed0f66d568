"""python -m evals retrieval | calibrate | speed."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evals.calibrate import calibrate, row_at
from evals.dataset import load_dataset
from evals.retrieval import per_question, provenance, summary
from evals.search import open_eval_index, rank
from evals.speed import measure
from service.app import chunk_rules
from service.ask.retrieve import RetrieveConfig
from service.cli.terminal import console, print_table, progress_bar
from service.errors import AskBlogError, ConfigError
from service.ingest.pipeline import index_id
from service.models import describe
from service.settings import Settings, load_settings

QUESTIONS = Path(__file__).with_name("questions.yaml")
CONFIGS = ("default",)


def parser() -> argparse.ArgumentParser:
    """Every command with its options."""
    top = argparse.ArgumentParser(
        prog="python -m evals", description="Measures the service on labelled questions."
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, run, summary_ in (
        ("retrieval", _retrieval, "measure retrieval; needs neither key nor server"),
        ("calibrate", _calibrate, "choose the cosine floor and write service/calibration.json"),
        ("speed", _speed, "measure ingest and search against the bare model"),
    ):
        sub = commands.add_parser(name, help=summary_, description=summary_)
        sub.set_defaults(run=run)
        sub.add_argument("--content", type=Path, metavar="DIR", help="folder of articles")
        if name != "speed":
            sub.add_argument("--questions", type=Path, default=QUESTIONS, metavar="FILE")
    retrieval = commands.choices["retrieval"]
    retrieval.add_argument("--split", choices=("dev", "heldout", "all"), default="all")
    retrieval.add_argument("--configs", default="default", help="names separated by commas")
    retrieval.add_argument("--max-per-article", type=int, metavar="N")
    for sub in (retrieval, commands.choices["speed"]):
        sub.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file")
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


def _config(settings: Settings) -> RetrieveConfig:
    return RetrieveConfig(
        floor=-1.0, top_k=settings.top_k, max_per_article=settings.max_per_article
    )


def _index_id(settings: Settings) -> str:
    model = describe(settings.model)
    return index_id(model.id, chunk_rules(model))


async def _retrieval(args: argparse.Namespace) -> int:
    for name in args.configs.split(","):
        if name not in CONFIGS:
            raise ConfigError(f"unknown configuration {name!r}; known: {', '.join(CONFIGS)}")
    settings = load_settings(content=args.content, max_per_article=args.max_per_article)
    config = _config(settings)
    with progress_bar("embedding") as progress:
        async with open_eval_index(settings.content, settings, progress) as opened:
            dataset = load_dataset(args.questions, opened.articles)
            ranked = await rank(dataset.split(args.split), opened=opened, config=config)
    figures = summary(ranked)
    report = {
        "configs": {"default": figures},
        "per_question": {"default": per_question(ranked)},
        "provenance": {
            **provenance(dataset, _index_id(settings), config),
            "split": args.split,
        },
    }
    if args.json:
        args.json.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
    _print_summary(figures)
    return 0


def _print_summary(figures: dict[str, Any]) -> None:
    metrics = figures["metrics"]
    print_table(
        ("measure", "default"),
        [
            (name, "unscored" if value is None else f"{value:.3f}")
            for name, value in metrics.items()
        ],
    )
    n = figures["n"]
    console.print(
        f"{n['answerable']} answerable and {n['no_answer']} no-answer questions; "
        f"search p50 {figures['latency_ms']['p50']:.1f} ms, "
        f"p95 {figures['latency_ms']['p95']:.1f} ms"
    )


async def _calibrate(args: argparse.Namespace) -> int:
    settings = load_settings(content=args.content)
    with progress_bar("embedding") as progress:
        async with open_eval_index(settings.content, settings, progress) as opened:
            dataset = load_dataset(args.questions, opened.articles)
            ranked = await rank(dataset.questions, opened=opened, config=_config(settings))
    made = calibrate(ranked, dataset=dataset, index_id=_index_id(settings))
    console.print(f"floor {made.floor:.2f} for {made.index_id}")
    for split in ("dev", "heldout"):
        chosen = [r for r in ranked if r.question.split == split]
        row = row_at(chosen, made.floor)
        answerable = sum(r.question.is_answerable for r in chosen)
        console.print(
            f"{split}: {row.lost} of {answerable} expected answers lost, something is still found "
            f"for {row.false_positives} of {len(chosen) - answerable} no-answer questions"
        )
    return 0


async def _speed(args: argparse.Namespace) -> int:
    settings = load_settings(content=args.content)
    with progress_bar("embedding") as progress:
        async with open_eval_index(settings.content, settings, progress) as opened:
            speed = await measure(opened, settings.content)
    figures = asdict(speed)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    print_table(("figure", "value"), [(name, f"{value:.3f}") for name, value in figures.items()])
    return 0


if __name__ == "__main__":
    sys.exit(main())
