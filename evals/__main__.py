"""python -m evals retrieval | calibrate | compare | speed."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path

from evals.cli_calibrate import add_calibrate_options, run_calibrate
from evals.cli_compare import add_compare
from evals.dataset import load_dataset
from evals.outputs import add_outputs, print_figures, write_outputs
from evals.retrieval import config_of, index_id_of, per_question, provenance, summary
from evals.search import open_eval_index, rank
from evals.speed import measure
from service.cli.terminal import print_table, progress_bar
from service.errors import AskBlogError, ConfigError
from service.settings import load_settings

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
        ("calibrate", run_calibrate, "choose the cosine floor and write service/calibration.json"),
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
    add_outputs(retrieval)
    add_calibrate_options(commands.choices["calibrate"])
    commands.choices["speed"].add_argument(
        "--json", type=Path, metavar="OUT", help="write the figures to a file"
    )
    add_compare(commands)
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
    for name in args.configs.split(","):
        if name not in CONFIGS:
            raise ConfigError(f"unknown configuration {name!r}; known: {', '.join(CONFIGS)}")
    settings = load_settings(content=args.content, max_per_article=args.max_per_article)
    config = config_of(settings)
    with progress_bar("embedding") as progress:
        async with open_eval_index(settings.content, settings, progress) as opened:
            dataset = load_dataset(args.questions, opened.articles)
            ranked = await rank(dataset.split(args.split), opened=opened, config=config)
    report = {
        "configs": {"default": summary(ranked)},
        "per_question": {"default": per_question(ranked)},
        "provenance": {
            **provenance(dataset, index_id_of(settings), config),
            "split": args.split,
        },
    }
    write_outputs(args, report, {"default": ranked})
    print_figures(report)
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
