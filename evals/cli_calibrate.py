"""The options of `calibrate` and what it prints."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from evals.calibrate import (
    DELTA,
    RISK,
    HeldOut,
    choose_floor,
    judge_floor,
    row_at,
    write_calibration,
)
from evals.dataset import load_dataset
from evals.floor import Certificate
from evals.retrieval import config_of
from evals.search import open_workbench, rank
from evals.types import Ranked
from service.app import shipped_index_id
from service.calibration import CALIBRATION_FILE
from service.cli.terminal import console, progress_bar
from service.errors import ConfigError
from service.settings import load_settings


def add_calibrate_options(sub: argparse.ArgumentParser) -> None:
    """What is to be certified, and where the floor goes."""
    sub.add_argument(
        "--alpha", type=float, default=RISK, help=f"the risk to certify, as a share ({RISK})"
    )
    sub.add_argument(
        "--delta", type=float, default=DELTA, help=f"the chance of a wrong certificate ({DELTA})"
    )
    sub.add_argument(
        "--out", type=Path, default=CALIBRATION_FILE, metavar="FILE", help="calibration.json"
    )


async def run_calibrate(args: argparse.Namespace) -> int:
    """Choose, judge, write, print; an uncertified floor is a result and not a failure."""
    for name in ("alpha", "delta"):
        if not 0 < getattr(args, name) < 1:
            raise ConfigError(f"--{name} {getattr(args, name)} is not between 0 and 1")
    settings = load_settings(content=args.content)
    with progress_bar("embedding") as progress:
        async with open_workbench(settings) as bench:
            dataset = load_dataset(args.questions, bench.articles)
            opened = (await bench.chunked("token", progress)).index
            ranked = await rank(dataset.questions, opened=opened, config=config_of(settings))
    floor = choose_floor(ranked)
    judged = judge_floor(ranked, floor, alpha=args.alpha, delta=args.delta)
    made = write_calibration(
        ranked, floor, judged, dataset=dataset, index_id=shipped_index_id(settings), path=args.out
    )
    console.print(f"floor {made.floor:.2f} for {made.index_id}, chosen on dev")
    _print_rows(ranked, floor)
    _print_heldout(judged)
    return 0


def _print_rows(ranked: Sequence[Ranked], floor: float) -> None:
    for split in ("dev", "heldout"):
        chosen = [r for r in ranked if r.question.split == split]
        row = row_at(chosen, floor)
        answerable = sum(r.question.is_answerable for r in chosen)
        console.print(
            f"{split}: {row.lost} of {answerable} expected answers lost, something is still found "
            f"for {row.false_positives} of {len(chosen) - answerable} no-answer questions"
        )


def _print_heldout(judged: HeldOut) -> None:
    for name, value, meaning in (
        ("AUROC", judged.auroc, "1 tells the two kinds apart, 0.5 is a coin"),
        ("AUGRC", judged.augrc, "mean share of questions answered badly over all floors"),
    ):
        shown = "unscored" if value is None else f"{value:.3f}"
        console.print(f"heldout {name} of the top cosine: {shown} ({meaning})")
    console.print(f"heldout false refusals: {certificate_text(judged.false_refusal)}")
    console.print(f"heldout leaks: {certificate_text(judged.leak)}")


def certificate_text(made: Certificate) -> str:
    """What n questions prove, or how many more could."""
    seen = f"{made.failures} of {made.n}"
    bound = f"below {made.upper:.1%} with {made.confidence:.0%} confidence"
    if made.is_certified:
        return f"{seen}, certified: {bound}, for questions like these"
    if made.failures > made.alpha * made.n:
        why = f"the rate seen is above {made.alpha:.0%}"
    else:
        why = f"{made.n} questions are too few for {made.alpha:.0%}"
    more = "no number of questions" if made.missing is None else f"{made.missing} more questions"
    return f"{seen}, NOT certified: {why}; {bound}. {more} without a failure would do"
