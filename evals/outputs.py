"""Where a run's figures go: JSON, a Markdown summary, an HTML page, TREC run files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evals.decide import Decision, as_json, decide
from evals.page import page
from evals.report import markdown
from evals.rules import read_rules
from evals.saved import SavedReport
from evals.trec import write_trec
from evals.types import Ranked
from service.cli.terminal import console, print_table


def add_outputs(sub: argparse.ArgumentParser) -> None:
    """The options that name files of a report."""
    sub.add_argument("--json", type=Path, metavar="OUT", help="write the figures to a file")
    sub.add_argument("--markdown", type=Path, metavar="OUT", help="write a summary for a job page")
    sub.add_argument("--html", type=Path, metavar="OUT", help="write a page with plots and misses")
    sub.add_argument("--trec", type=Path, metavar="DIR", help="write run files and qrels")


def write_outputs(
    args: argparse.Namespace,
    report: Mapping[str, Any],
    ranked_by_config: Mapping[str, Sequence[Ranked]],
) -> None:
    """Every file that was asked for; from two configurations on, also what the rule chooses."""
    saved = SavedReport.model_validate(report)
    decision = decide(saved, read_rules()) if len(saved.configs) > 1 else None
    if args.json:
        kept = {**report, "decision": as_json(decision)} if decision else report
        args.json.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", "utf-8")
    if args.trec:
        write_trec(args.trec, ranked_by_config)
    if args.markdown:
        args.markdown.write_text(markdown(saved, decision), "utf-8")
    if args.html:
        args.html.write_text(page(saved, decision), "utf-8")
    if decision:
        print_decision(decision)


def print_decision(decision: Decision) -> None:
    """The winner, how it came about, and what became of each hypothesis."""
    console.print(f"chosen by the rule: {decision.winner or 'none'}", markup=False)
    for step in decision.steps:
        console.print(f"  {step}", markup=False)
    for trial in decision.trials:
        console.print(
            f"{trial.verdict.value}: {trial.hypothesis.id}, {trial.config} against {trial.against}",
            markup=False,
        )


def print_figures(report: Mapping[str, Any]) -> None:
    """A column for each configuration; 95% intervals where there is one."""
    configs: Mapping[str, Any] = report["configs"]
    first = next(iter(configs.values()))
    print_table(
        ("measure", *configs),
        [
            (name, *(_cell(figures, name) for figures in configs.values()))
            for name in first["metrics"]
        ],
    )
    n = first["n"]
    console.print(f"{n['answerable']} answerable and {n['no_answer']} no-answer questions")
    for name, figures in configs.items():
        milliseconds = figures["latency_ms"]
        console.print(
            f"{name}: search p50 {milliseconds['p50']:.1f} ms, p95 {milliseconds['p95']:.1f} ms"
        )


def _cell(figures: Mapping[str, Any], name: str) -> str:
    value, interval = figures["metrics"].get(name), figures["intervals"].get(name)
    if value is None:
        return "unscored"
    if interval is None:
        return f"{value:.0f}"
    return f"{value:.3f} ({interval[0]:.3f}-{interval[1]:.3f})"
