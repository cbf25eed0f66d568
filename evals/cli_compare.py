"""The options of `compare` and what it prints."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from evals.compare import (
    MARGIN,
    METRICS,
    Comparison,
    Gate,
    as_json,
    compare_reports,
    gate,
    read_must_pass,
)
from evals.saved import read_report
from service.cli.terminal import console, print_table
from service.errors import ConfigError


def add_compare(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command and its options."""
    summary = "compare two reports question by question; exit 1 if it may have become worse"
    sub = commands.add_parser("compare", help=summary, description=summary)
    sub.set_defaults(run=run_compare)
    sub.add_argument("before", type=Path, metavar="A.json", help="a report of retrieval --json")
    sub.add_argument("after", type=Path, metavar="B.json", help="the report to hold against it")
    sub.add_argument(
        "--config", metavar="NAME", help="or X,Y: X of the first report and Y of the second"
    )
    sub.add_argument(
        "--metric", nargs="+", metavar="NAME", help=f"measures to hold ({' '.join(METRICS)})"
    )
    sub.add_argument(
        "--margin", type=float, default=MARGIN, help=f"the drop that is tolerated ({MARGIN})"
    )
    sub.add_argument(
        "--must-pass", type=Path, metavar="FILE", help="question ids that must not become a miss"
    )
    sub.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file")


async def run_compare(args: argparse.Namespace) -> int:
    """Print the comparison; 1 if the gate does not pass."""
    if args.margin < 0:
        raise ConfigError(f"--margin {args.margin} is below 0; name the drop that is tolerated")
    before, after = read_report(args.before), read_report(args.after)
    compared = compare_reports(before, after, configs=args.config, metrics=args.metric)
    known = {row.id for rows in before.per_question.values() for row in rows}
    must_pass = read_must_pass(args.must_pass, known) if args.must_pass else frozenset()
    result = gate(compared, margin=args.margin, must_pass=must_pass)
    if args.json:
        figures = as_json(compared, result, margin=args.margin)
        args.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", "utf-8")
    _print_comparisons(compared)
    _print_changes(compared)
    _print_gate(compared, result, args.margin)
    return 0 if result.is_passed else 1


def _print_comparisons(compared: Sequence[Comparison]) -> None:
    several = len(compared) > 1
    print_table(
        ("configuration", "measure", "n", "articles", "before", "after", "difference", "95%")
        + (("p", "p adjusted") if several else ("p",))
        + ("detectable",),
        [
            (
                c.config,
                c.metric,
                c.n,
                c.clusters,
                f"{c.before:.3f}",
                f"{c.after:.3f}",
                f"{c.difference:+.3f}",
                f"{c.interval.low:+.3f} to {c.interval.high:+.3f}",
                f"{c.p:.4f}",
                *([f"{c.adjusted_p:.4f}"] if several else []),
                detectable(c),
            )
            for c in compared
        ],
    )


def detectable(comparison: Comparison) -> str:
    """The smallest true difference that so many questions would show four times in five."""
    effect = comparison.minimum_detectable_effect
    return "one article: none" if effect is None else f"{effect:.3f}"


def _print_changes(compared: Sequence[Comparison]) -> None:
    for c in compared:
        for word, changes in (("lost", c.lost), ("won", c.won)):
            for change in changes:
                console.print(
                    f"{c.config} {c.metric} {word} {change.id}: {change.question} "
                    f"({change.before:.2f} to {change.after:.2f})",
                    markup=False,
                )
        if c.moved:
            console.print(f"{c.config} {c.metric}: {len(c.moved)} more questions moved")


def _print_gate(compared: Sequence[Comparison], result: Gate, margin: float) -> None:
    for drop in result.drops:
        console.print(
            f"FAIL {drop.config} {drop.metric}: it may have become worse by "
            f"{drop.largest_drop:.3f}; the margin is {margin:g}",
            markup=False,
        )
        effect = drop.minimum_detectable_effect
        if effect is not None and effect > margin and drop.interval.low <= 0 <= drop.interval.high:
            console.print(
                f"     {drop.n} questions on {drop.clusters} articles cannot tell a change of "
                f"{margin:g} from chance: this is doubt, not proof of a loss"
            )
    for name, ids in result.pinned.items():
        for question in ids:
            console.print(f"FAIL {name}: {question} must pass and is a miss now", markup=False)
    if result.is_passed:
        worst = max(c.largest_drop for c in compared)
        console.print(f"pass: no measure dropped by more than {margin:g} (at most {worst:.3f})")
