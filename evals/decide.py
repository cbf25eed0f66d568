"""Applies rules.yaml to a report: which configuration wins, and what became of each hypothesis."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evals.compare import Comparison, Side, compare
from evals.rules import Hypothesis, Rules, Step
from evals.saved import LOWER_IS_BETTER, SavedReport
from evals.statistics import Interval

_ROUNDING = 1e-9


class Verdict(StrEnum):
    """What the figures say of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One condition of a hypothesis with its figures."""

    measure: str
    wanted: str  # in words
    before: float
    after: float
    interval: Interval | None  # of the difference; None for a limit
    p: float | None
    n: int
    clusters: int
    verdict: Verdict
    is_kept: bool  # by the means alone, whatever the interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A hypothesis held against one pair of configurations."""

    hypothesis: Hypothesis
    config: str
    against: str
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """Supported if every condition is; contradicted if one is; else undecided."""
        verdicts = {finding.verdict for finding in self.findings}
        if Verdict.CONTRADICTED in verdicts:
            return Verdict.CONTRADICTED
        return Verdict.SUPPORTED if verdicts == {Verdict.SUPPORTED} else Verdict.UNDECIDED

    @property
    def is_kept(self) -> bool:
        """Whether the means keep every condition."""
        return all(finding.is_kept for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The rule applied."""

    winner: str | None
    steps: tuple[str, ...]  # how it came about, in words
    trials: tuple[Trial, ...]
    untested: tuple[Hypothesis, ...]  # their configurations are not in the report


def decide(report: SavedReport, rules: Rules) -> Decision:
    """Try every hypothesis, leave out what breaks a required one, select among the rest."""
    trials = [
        _trial(report, hypothesis, config, rival)
        for hypothesis in rules.hypotheses
        for config in report.configs
        if (rival := hypothesis.rival(config)) in report.configs
        and rival is not None
        and _is_scored(report, hypothesis, config, rival)
    ]
    broken = {t.config: t.hypothesis.id for t in trials if t.hypothesis.required and not t.is_kept}
    steps = [f"{config} is left out: it does not keep {id_}" for config, id_ in broken.items()]
    left = [config for config in report.configs if config not in broken]
    for step in rules.selection:
        left, words = _select(report, left, step)
        steps += words
    tried = {t.hypothesis.id for t in trials}
    return Decision(
        winner=left[0] if left else None,
        steps=tuple(steps),
        trials=tuple(trials),
        untested=tuple(h for h in rules.hypotheses if h.id not in tried),
    )


def as_json(decision: Decision) -> dict[str, Any]:
    """What the report keeps of it."""
    return {
        "winner": decision.winner,
        "steps": list(decision.steps),
        "hypotheses": [
            {
                "id": trial.hypothesis.id,
                "config": trial.config,
                "against": trial.against,
                "verdict": trial.verdict.value,
                "findings": [dataclasses.asdict(finding) for finding in trial.findings],
            }
            for trial in decision.trials
        ],
        "untested": [hypothesis.id for hypothesis in decision.untested],
    }


def _select(report: SavedReport, configs: Sequence[str], step: Step) -> tuple[list[str], list[str]]:
    """The best and those within reach of it; the first of the report wins a draw."""
    values = {name: report.configs[name].metrics.get(step.measure) for name in configs}
    scored = {name: value for name, value in values.items() if value is not None}
    if len(configs) < 2 or not scored:
        return list(configs), []
    lower = step.measure in LOWER_IS_BETTER
    best = min(scored.values()) if lower else max(scored.values())
    kept = [n for n, v in scored.items() if abs(v - best) <= step.within + _ROUNDING]
    reach = f" within {step.within:g}" if step.within else ""
    listed = ", ".join(f"{n} {_shown(step.measure, scored[n])}" for n in kept)
    return kept, [f"{'lowest' if lower else 'highest'} {step.measure}{reach}: {listed}"]


def _shown(measure: str, value: float) -> str:
    return f"{value:.0f}" if measure.startswith("chars") else f"{value:.3f}"


def _is_scored(report: SavedReport, hypothesis: Hypothesis, *names: str) -> bool:
    """Whether the claim's questions are there, and have all of its measures."""
    return all(
        any(
            hypothesis.concerns(row) and report.score(name, row, measure) is not None
            for row in report.per_question[name]
        )
        for measure in (*hypothesis.gains, *hypothesis.not_worse)
        for name in names
    )


def _trial(report: SavedReport, hypothesis: Hypothesis, config: str, rival: str) -> Trial:
    kept = {
        name: tuple(row for row in report.per_question[name] if hypothesis.concerns(row))
        for name in (config, rival)
    }
    part = report.model_copy(update={"per_question": kept})
    before, after = Side(report=part, config=rival), Side(report=part, config=config)
    findings = [
        _gain(compare(before, after, measure), gain) for measure, gain in hypothesis.gains.items()
    ]
    findings += [_not_worse(compare(before, after, measure)) for measure in hypothesis.not_worse]
    if hypothesis.p95_ms is not None:
        findings.append(_limit(report, config, rival, hypothesis.p95_ms))
    return Trial(hypothesis=hypothesis, config=config, against=rival, findings=tuple(findings))


def _gain(found: Comparison, wanted: float) -> Finding:
    low, high, difference = found.interval.low, found.interval.high, found.difference
    if found.metric in LOWER_IS_BETTER:
        low, high, difference = -high, -low, -difference
    return _finding(
        found,
        wanted=f"gains at least {wanted:g}" if wanted else "gains something",
        is_supported=low > wanted,
        is_contradicted=high < wanted,
        is_kept=difference >= wanted - _ROUNDING if wanted else difference > _ROUNDING,
    )


def _not_worse(found: Comparison) -> Finding:
    """The means decide: the questions that could prove it are never enough."""
    is_lower_better = found.metric in LOWER_IS_BETTER
    worse = found.difference > 0 if is_lower_better else found.difference < 0
    is_proven = found.interval.low > 0 if is_lower_better else found.interval.high < 0
    return _finding(
        found,
        wanted="does not become worse",
        is_supported=not worse,
        is_contradicted=worse and is_proven,
        is_kept=not worse,
    )


def _finding(
    found: Comparison, *, wanted: str, is_supported: bool, is_contradicted: bool, is_kept: bool
) -> Finding:
    undecided = Verdict.CONTRADICTED if is_contradicted else Verdict.UNDECIDED
    return Finding(
        measure=found.metric,
        wanted=wanted,
        before=found.before,
        after=found.after,
        interval=found.interval,
        p=found.p,
        n=found.n,
        clusters=found.clusters,
        verdict=Verdict.SUPPORTED if is_supported else undecided,
        is_kept=is_kept,
    )


def _limit(report: SavedReport, config: str, rival: str, p95_ms: float) -> Finding:
    before, after = (report.configs[name].latency_ms["p95"] for name in (rival, config))
    is_kept = after <= p95_ms
    return Finding(
        measure="latency p95 ms",
        wanted=f"stays within {p95_ms:g} ms",
        before=before,
        after=after,
        interval=None,
        p=None,
        n=len(report.per_question[config]),
        clusters=0,
        verdict=Verdict.SUPPORTED if is_kept else Verdict.CONTRADICTED,
        is_kept=is_kept,
    )
