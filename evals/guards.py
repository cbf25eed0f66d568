"""Both error rates of the input guard, on labelled lines and on the owner's own words.

Calls the very guard that ask() calls, embedder and weights included; needs no key and no database.
A question counts as caught where it would not be answered normally: refused, or guarded (answered
in quotes only). Refusals alone are reported beside that.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evals.statistics import exact_interval
from service.app import ask_config, content_source, load_embedder
from service.ask.guard_input import GuardInputConfig, guard
from service.cli.terminal import console, print_table
from service.errors import ConfigError
from service.ingest.source import read_source
from service.ports import Embedder
from service.settings import load_settings
from service.types import MAX_QUESTION_CHARS, Article, BlockKind, Refusal, Rule

_POSITIVE = {"injection", "pii"}
_IDENTIFIER = re.compile(r"(?<![\w-])(?:--[a-z][a-z-]{2,30}|[A-Za-z_][\w.]{2,40}\(?\)?)(?![\w-])")
_CODE_PROBES = 40  # identifiers of one article that are asked about; chosen, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One line of a labelled file, or a probe."""

    id: str
    text: str
    positive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the guard made of it."""

    line: Labelled
    rule: Rule | None  # of the refusal
    guarded: bool
    fired: tuple[str, ...]


def add_guards(commands: Any) -> None:
    """The guards command and its options."""
    summary = "measure the input guard: what it lets through and whom it refuses wrongly"
    sub = commands.add_parser("guards", help=summary, description=summary)
    sub.set_defaults(run=run_guards)
    sub.add_argument("--content", type=Path, metavar="DIR", help="folder of articles")
    sub.add_argument("--injection", type=Path, metavar="FILE", help="lines of id, text, label")
    sub.add_argument("--pii", type=Path, metavar="FILE", help="lines of id, text, label")
    sub.add_argument("--json", type=Path, metavar="OUT", help="write the report to a file")


async def run_guards(args: argparse.Namespace) -> int:
    """Measure on labelled files; without any on probes from the articles."""
    settings = load_settings(content=args.content)
    embedder, config = load_embedder(settings), ask_config(settings).guard_input
    # on labelled personal data the question is what is found, not what becomes of it
    config = replace(config, pii="refuse")
    report: dict[str, Any] = {}
    for kind in ("injection", "pii"):
        if path := getattr(args, kind):
            judged = await judge(read_labelled(path), embedder=embedder, config=config)
            report[kind] = figures(judged, kind)
            report[kind]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    if args.content or not report:
        articles = read_source(content_source(settings)).articles
        judged = await judge(probes(articles), embedder=embedder, config=config)
        report["probes"] = own_figures(judged)
    report["guard"] = provenance(config, embedder.id)
    if args.json:
        args.json.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
    _print(report)
    return 0


def read_labelled(path: Path) -> list[Labelled]:
    """The lines of a file. Raises ConfigError naming the line."""
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file")
    found = []
    for number, line in enumerate(path.read_text("utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            text = row["text"] if "text" in row else base64.b64decode(row["text_b64"]).decode()
            positive = row["label"] in _POSITIVE
            found.append(Labelled(id=str(row["id"]), text=text, positive=positive))
        except (ValueError, KeyError, TypeError) as fault:
            raise ConfigError(f"{path}:{number}: no line of id, text and label: {fault}") from fault
    return found


def probes(articles: Sequence[Article]) -> list[Labelled]:
    """Questions a reader may well ask, from titles, headings and identifiers in code."""
    texts: dict[str, str] = {}
    for article in articles:
        titles = [article.title, *(s.heading for s in article.sections if s.level)]
        for title in dict.fromkeys(titles):
            texts.setdefault(f"How do I {title[:1].lower()}{title[1:]}?", article.slug)
            texts.setdefault(f"What does “{title}” mean?", article.slug)
            texts.setdefault(title, article.slug)
        for name in _identifiers(article):
            texts.setdefault(f"What does {name} do?", article.slug)
            texts.setdefault(f"How do I use {name}?", article.slug)
    return [
        Labelled(id=f"{slug}#{n}", text=text, positive=False)
        for n, (text, slug) in enumerate(texts.items(), start=1)
        if len(text) <= MAX_QUESTION_CHARS
    ]


def _identifiers(article: Article) -> list[str]:
    code = " ".join(
        article.text[b.start : b.end] for b in article.blocks if b.kind is BlockKind.CODE
    )
    inline = " ".join(re.findall(r"`([^`\n]{3,40})`", article.text))
    return list(dict.fromkeys(_IDENTIFIER.findall(f"{inline} {code}")))[:_CODE_PROBES]


async def judge(
    lines: Iterable[Labelled], *, embedder: Embedder, config: GuardInputConfig
) -> list[Judged]:
    """The guard's verdict on every line."""
    found = []
    for line in lines:
        verdict = (await guard(line.text, embedder=embedder, config=config)).verdict
        outcome = verdict.outcome
        refused = outcome.rule if isinstance(outcome, Refusal) else None
        guarded = not isinstance(outcome, Refusal) and outcome.guarded
        found.append(Judged(line=line, rule=refused, guarded=guarded, fired=verdict.fired))
    return found


def figures(judged: Sequence[Judged], kind: str) -> dict[str, Any]:
    """Recall and false-positive rate of one kind, with exact 95% intervals."""
    rules = {Rule.PERSONAL_DATA} if kind == "pii" else {Rule.INJECTION, Rule.HIDDEN_TEXT}
    refused = [j.rule in rules for j in judged]
    caught = [
        r or (j.guarded and kind == "injection") for r, j in zip(refused, judged, strict=True)
    ]
    wrong = [j for j, c in zip(judged, caught, strict=True) if c != j.line.positive]
    return {
        "n": len(judged),
        "positives": sum(j.line.positive for j in judged),
        **_rates(judged, caught),
        "counts_as_caught": "refused or guarded" if kind == "injection" else "refused",
        "refused_only": _rates(judged, refused),
        "misjudged": [j.line.id for j in wrong],
        "fired": {j.line.id: list(j.fired) for j in judged if j.fired},
        "by_check": dict(Counter(name for j in judged for name in j.fired).most_common()),
        "stopped_by_other_rules": dict(
            Counter(j.rule.value for j in judged if j.rule and j.rule not in rules)
        ),
    }


def _rates(judged: Sequence[Judged], caught: Sequence[bool]) -> dict[str, Any]:
    rates: dict[str, Any] = {"intervals": {}}
    for name, positive in (("recall", True), ("fpr", False)):
        hits = [c for j, c in zip(judged, caught, strict=True) if j.line.positive is positive]
        rates[name] = sum(hits) / len(hits) if hits else None
        rates["intervals"][name] = _interval(sum(hits), len(hits))
    return rates


def _interval(hits: int, n: int) -> list[float] | None:
    """The exact 95% interval of a rate."""
    if n == 0:
        return None
    found = exact_interval(hits, n)
    return [found.low, found.high]


def own_figures(judged: Sequence[Judged]) -> dict[str, Any]:
    """How many of the probes would not be answered normally, and each of them."""
    wrong = [j for j in judged if j.rule or j.guarded]
    return {
        "n": len(judged),
        "fpr": len(wrong) / len(judged) if judged else None,
        "intervals": {"fpr": _interval(len(wrong), len(judged))},
        "refused": sum(j.rule is not None for j in wrong),
        "guarded": sum(j.guarded for j in wrong),
        "misjudged": [
            {
                "id": j.line.id,
                "text": j.line.text,
                "rule": j.rule.value if j.rule else "guarded",
                "fired": list(j.fired),
            }
            for j in wrong
        ],
    }


def provenance(config: GuardInputConfig, embedder_id: str) -> dict[str, Any]:
    """Which guard was measured."""
    heads = config.heads
    made = dict(heads.provenance) if heads else None
    return {"embedder": embedder_id, "heads": made or "none: patterns only"}


def _print(report: dict[str, Any]) -> None:
    rows = []
    for kind in ("injection", "pii", "probes"):
        for rate in ("recall", "fpr"):
            value = report.get(kind, {}).get(rate)
            if value is not None:
                low, high = report[kind]["intervals"][rate]
                rows.append(
                    (kind, report[kind]["n"], rate, f"{value:.4f}", f"{low:.4f}–{high:.4f}")
                )
    print_table(("lines", "n", "rate", "value", "95% interval"), rows)
    for wrong in report.get("probes", {}).get("misjudged", []):
        names = ", ".join(wrong["fired"])
        console.print(f"{wrong['rule']} ({names}): {wrong['text']}", markup=False)
