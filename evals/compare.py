"""python -m evals compare: two reports question by question, and the regression gate.

Scores are paired by question and clustered by article, so that neither an easy question nor an
article with many questions passes for evidence.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.saved import LOWER_IS_BETTER, NO_ANSWER_FP, SavedReport, SavedRow
from evals.statistics import (
    Interval,
    benjamini_hochberg,
    bootstrap_interval,
    cluster_mean,
    clusters_of,
    minimum_detectable_effect,
    sign_flip_p,
)
from service.errors import ConfigError

MARGIN = 0.02  # chosen, not measured: a drop that nobody would notice on a hundred questions
METRICS = ("recall@3", "mrr", "evidence_recall@5")  # the right article, its place, the passage


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One configuration of one report."""

    report: SavedReport
    config: str

    def scored(self, metric: str) -> dict[str, tuple[SavedRow, float]]:
        """Rows and scores by question, without the unscored. Raises ConfigError for no such."""
        rows = self.report.per_question[self.config]
        if metric != NO_ANSWER_FP and not any(metric in row.scores for row in rows):
            known = sorted({name for row in rows for name in row.scores} | {NO_ANSWER_FP})
            raise ConfigError(f"no question has {metric!r}; known: {', '.join(known)}")
        scores = ((row, self.report.score(self.config, row, metric)) for row in rows)
        return {row.id: (row, score) for row, score in scores if score is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A question that the two sides score differently."""

    id: str
    question: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One measure under two configurations. Differences are after - before."""

    config: str
    metric: str
    n: int  # questions scored on both sides
    clusters: int  # articles they were asked about
    before: float
    after: float
    difference: float
    interval: Interval  # 95%, of the difference
    p: float
    adjusted_p: float  # among everything compared at once; equals p for a single comparison
    minimum_detectable_effect: float | None  # None with a single article
    lost: tuple[Change, ...]  # from a score above 0 to 0
    won: tuple[Change, ...]  # from 0 to a score above 0
    moved: tuple[Change, ...]  # any other difference

    @property
    def largest_drop(self) -> float:
        """How much worse it may have become, at the unfavourable end of the interval."""
        return self.interval.high if self.metric in LOWER_IS_BETTER else 0 - self.interval.low


def compare(before: Side, after: Side, metric: str) -> Comparison:
    """The paired difference with everything that is needed to doubt it."""
    a, b = before.scored(metric), after.scored(metric)
    pairs = [(row, score, b[id_][1]) for id_, (row, score) in a.items() if id_ in b]
    if not pairs:
        raise ConfigError(f"no question has {metric!r} on both sides")
    clusters = clusters_of([(row.cluster, new - old) for row, old, new in pairs])
    p = sign_flip_p(clusters)
    return Comparison(
        config=before.config
        if before.config == after.config
        else f"{before.config} → {after.config}",
        metric=metric,
        n=len(pairs),
        clusters=len(clusters),
        before=sum(old for _, old, _ in pairs) / len(pairs),
        after=sum(new for _, _, new in pairs) / len(pairs),
        difference=cluster_mean(clusters),
        interval=bootstrap_interval(clusters),
        p=p,
        adjusted_p=p,
        minimum_detectable_effect=minimum_detectable_effect(clusters),
        **_changes(pairs, metric),
    )


def _changes(
    pairs: Sequence[tuple[SavedRow, float, float]], metric: str
) -> dict[str, tuple[Change, ...]]:
    found: dict[str, list[Change]] = {"lost": [], "won": [], "moved": []}
    for row, old, new in pairs:
        if old == new:
            continue
        kind = "moved" if old and new else "lost" if bool(old) else "won"
        if metric in LOWER_IS_BETTER and kind != "moved":
            kind = "won" if kind == "lost" else "lost"
        change = Change(id=row.id, question=row.question, before=old, after=new)
        found[kind].append(change)
    return {kind: tuple(changes) for kind, changes in found.items()}


def adjusted(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The same with p corrected for looking more than once (Benjamini and Hochberg 1995)."""
    p_values = benjamini_hochberg([c.p for c in comparisons])
    return [
        dataclasses.replace(c, adjusted_p=p) for c, p in zip(comparisons, p_values, strict=True)
    ]


def compare_reports(
    a: SavedReport, b: SavedReport, *, configs: str | None, metrics: Sequence[str] | None
) -> list[Comparison]:
    """Each configuration that both reports have, or the named one, on each measure.

    Without measures, those of METRICS that the questions have labels for. `configs` may be two
    names with a comma: the first in `a`, the second in `b`. Raises ConfigError for reports on
    different questions.
    """
    if a.dataset != b.dataset:
        raise ConfigError(
            "the reports are not on the same questions and articles: "
            f"{_named(a.dataset)} and {_named(b.dataset)}; run both again on one dataset"
        )
    pairs = _config_pairs(a, b, configs)
    sides = [(Side(report=a, config=x), Side(report=b, config=y)) for x, y in pairs]
    wanted = metrics or [name for name in METRICS if _is_labelled(a, name)]
    return adjusted([compare(x, y, metric) for x, y in sides for metric in wanted])


def _is_labelled(report: SavedReport, metric: str) -> bool:
    rows = (row for rows in report.per_question.values() for row in rows)
    return any(row.scores.get(metric) is not None for row in rows)


def _named(dataset: tuple[str, str]) -> str:
    digest, split = dataset
    return f"{digest[:12] or 'no hash'} ({split})"


def _config_pairs(a: SavedReport, b: SavedReport, configs: str | None) -> list[tuple[str, str]]:
    if configs is None:
        shared = [name for name in a.configs if name in b.configs]
        if not shared:
            raise ConfigError("no configuration is in both reports; name two with --config X,Y")
        return [(name, name) for name in shared]
    first, _, second = configs.partition(",")
    pair = (first, second or first)
    for name, report in zip(pair, (a, b), strict=True):
        if name not in report.configs or name not in report.per_question:
            known = ", ".join(report.configs)
            raise ConfigError(f"a report has no configuration {name!r}; it has: {known}")
    return [pair]


# ---------------------------------------------------------------- the gate


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Why a comparison does not pass; passed if there is no reason."""

    drops: tuple[Comparison, ...]  # may have dropped by more than the margin
    pinned: Mapping[str, tuple[str, ...]]  # must-pass questions that flipped to a miss, by measure

    @property
    def is_passed(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.drops and not any(self.pinned.values())


def gate(
    comparisons: Sequence[Comparison], *, margin: float, must_pass: Collection[str] = ()
) -> Gate:
    """Non-inferiority: the drop must be shown to be within the margin, not merely fail to show."""
    return Gate(
        drops=tuple(c for c in comparisons if c.largest_drop > margin),
        pinned={
            f"{c.config} {c.metric}": tuple(x.id for x in c.lost if x.id in must_pass)
            for c in comparisons
        },
    )


def read_must_pass(path: Path, known: Collection[str]) -> frozenset[str]:
    """Question ids, one a line, `#` starts a comment. Raises ConfigError for an unknown one."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigError(f"{path}: not readable: {fault}") from fault
    ids = [line.partition("#")[0].strip() for line in lines]
    for name in ids:
        if name and name not in known:
            raise ConfigError(f"{path}: no question {name!r} in the reports")
    return frozenset(name for name in ids if name)


def as_json(comparisons: Sequence[Comparison], result: Gate, *, margin: float) -> dict[str, Any]:
    """What --json writes."""
    return {
        "is_passed": result.is_passed,
        "margin": margin,
        "drops": [{"config": c.config, "metric": c.metric} for c in result.drops],
        "must_pass_lost": {name: list(ids) for name, ids in result.pinned.items() if ids},
        "comparisons": [
            {**dataclasses.asdict(c), "largest_drop": c.largest_drop} for c in comparisons
        ],
    }
