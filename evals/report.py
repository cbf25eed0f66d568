"""A report as Markdown for a job summary, and what both kinds of report show.

The same report gives the same bytes: nothing here asks for the time or draws at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from evals.decide import Decision, Finding
from evals.saved import SavedFigures, SavedHit, SavedReport, SavedRow

SHOWN_CONFIGS = 4  # in plots; tables have all of them
NOT_FOUND = 11  # the rank of what is not among the ten that are ranked
_GROUPED = ("recall@3", "mrr", "evidence_recall@5")

MEANINGS = {
    "recall@1": "the article is the first excerpt",
    "recall@3": "the article is among the first three excerpts",
    "recall@6": "the article is among the six excerpts of an answer",
    "mrr": "1 / rank of the article within ten",
    "ndcg@10": "the needed articles near the top, each counted once",
    "section_hit@6": "a labelled section is among the six",
    "evidence_recall@5": "share of the labelled quotes in the first five",
    "precision@5": "share of the first five that hold a quote",
    "evidence_hit@5": "a labelled quote is in the first five",
    "evidence_mrr@10": "1 / rank of the first excerpt with a quote",
    "judged@6": "share of the six that somebody labelled",
    "no_answer_fp": "no-answer questions for which something passes the floor; lower is better",
    "chars@5": "characters in the first five; lower is better",
}


def rank_of(row: SavedRow) -> int:
    """Of the first excerpt of an expected article; 11 if it is not among ten."""
    ranks = (rank for rank, hit in enumerate(row.hits[:10], 1) if hit.slug in row.expected)
    return next(ranks, NOT_FOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Misses:
    """Questions that went wrong in one way; `shown` excerpts came instead."""

    title: str
    rows: tuple[SavedRow, ...]
    shown: int

    def came(self, row: SavedRow) -> Sequence[SavedHit]:
        """The passages that came instead of what was expected."""
        return row.hits[: self.shown]


def misses(report: SavedReport, config: str) -> list[Misses]:
    """Wrong article; right article but not the passage; something found where nothing is."""
    rows = report.per_question[config]
    late = tuple(r for r in rows if r.expected and (r.scores.get("recall@3") or 0) < 1)
    seen = {row.id for row in late}
    passage = tuple(r for r in rows if r.scores.get("evidence_hit@5") == 0 and r.id not in seen)
    leaked = tuple(r for r in rows if report.score(config, r, "no_answer_fp"))
    return [
        Misses(title="The article is not among the first three", rows=late, shown=3),
        Misses(title="The right article, but not the passage", rows=passage, shown=5),
        Misses(title="No answer exists, and something passes the floor", rows=leaked, shown=1),
    ]


def main_config(report: SavedReport, decision: Decision | None) -> str:
    """The one whose misses are shown: the winner, or the first."""
    return (decision and decision.winner) or next(iter(report.configs))


def shown_configs(report: SavedReport, decision: Decision | None) -> list[str]:
    """The main one and those with the next highest MRR, at most four, in the report's order."""
    main = main_config(report, decision)
    others = sorted(
        (name for name in report.configs if name != main),
        key=lambda name: -(report.configs[name].metrics.get("mrr") or 0.0),
    )
    kept = {main, *others[: SHOWN_CONFIGS - 1]}
    return [name for name in report.configs if name in kept]


def cell(value: float | None, interval: tuple[float, float] | None, metric: str) -> str:
    """A mean with its interval, or that nothing was scored."""
    if value is None:
        return "unscored"
    if interval is None:
        return f"{value:.0f}" if metric.startswith("chars") else f"{value:.3f}"
    return f"{value:.3f} ({interval[0]:.2f} to {interval[1]:.2f})"


def origin(report: SavedReport) -> str:
    """What the numbers belong to, in a line."""
    kept, n = report.provenance, next(iter(report.configs.values())).n
    return (
        f"{n.get('answerable', 0)} answerable and {n.get('no_answer', 0)} no-answer questions "
        f"(split {kept.get('split', 'all')}), "
        f"embedder and chunker {kept.get('index_id', 'unknown')}, "
        f"dataset {str(kept.get('dataset_sha256', 'unknown'))[:12]}, "
        f"commit {str(kept.get('commit', 'unknown'))[:12]}, {kept.get('date', 'undated')}"
    )


def warning(report: SavedReport) -> str | None:
    """Hashed vectors know words and no meaning."""
    kept = report.provenance
    is_hashed = kept.get("embeddings") == "hash" or str(kept.get("index_id", "")).startswith("hash")
    return (
        "Made with hashed vectors: these figures measure the wiring, not the meaning. Nothing here "
        "says how well real questions are answered."
        if is_hashed
        else None
    )


def finding_text(finding: Finding) -> str:
    """One condition with its figures."""
    text = (
        f"{finding.measure} {finding.wanted}: {finding.before:.3f} to {finding.after:.3f}"
        if finding.interval
        else f"{finding.measure} {finding.wanted}: {finding.after:.0f}"
    )
    if finding.interval:
        low, high = finding.interval.low, finding.interval.high
        text += (
            f", difference {finding.after - finding.before:+.3f} ({low:+.3f} to {high:+.3f}), "
            f"p {finding.p:.3f}, {finding.n} questions on {finding.clusters} articles"
        )
    return f"{text}: {finding.verdict.value}"


# ---------------------------------------------------------------- Markdown


def markdown(report: SavedReport, decision: Decision | None = None) -> str:
    """The whole summary; with a decision where there is more than one configuration."""
    main = main_config(report, decision)
    parts = ["# Retrieval", origin(report) + "."]
    if note := warning(report):
        parts.append(f"> **Note.** {note}")
    parts.append(_metrics(report))
    if decision:
        parts += _decision(decision)
    parts += ["## By type", _groups(report, main), "## Floor", _floor(report)]
    parts += [f"## Misses of {main}", *(_misses(m) for m in misses(report, main) if m.rows)]
    return "\n\n".join(parts) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_plain(cell) for cell in line) + " |" for line in lines)


def _plain(text: str) -> str:
    """Readers' words and articles' words as text: no markup of theirs is rendered."""
    flat = escape(" ".join(text.split()), quote=False)
    for mark in "\\`*_[]|#!~":
        flat = flat.replace(mark, f"\\{mark}")
    return flat


def _metrics(report: SavedReport) -> str:
    names = next(iter(report.configs.values())).metrics
    rows = [
        (
            name,
            *(
                cell(f.metrics.get(name), f.intervals.get(name), name)
                for f in report.configs.values()
            ),
            MEANINGS.get(name, ""),
        )
        for name in names
    ]
    speed = [
        f"{f.latency_ms['p50']:.0f} / {f.latency_ms['p95']:.0f}" for f in report.configs.values()
    ]
    rows.append(("p50 / p95 ms", *speed, "embed, fetch, select"))
    return _table(("measure", *report.configs, "meaning"), rows)


def _decision(decision: Decision) -> list[str]:
    steps = "\n".join(f"1. {_plain(step)}" for step in decision.steps)
    rows = [
        (
            trial.verdict.value,
            f"{trial.config} against {trial.against}: {trial.hypothesis.claim}",
            "; ".join(finding_text(finding) for finding in trial.findings),
        )
        for trial in decision.trials
    ]
    rows += [
        ("untested", h.claim, "configurations or questions are missing") for h in decision.untested
    ]
    chosen = f"Chosen by the rule: **{_plain(decision.winner or 'none')}**"
    return ["## Decision", chosen, steps, _table(("verdict", "claim", "figures"), rows)]


def _groups(report: SavedReport, config: str) -> str:
    return _table(
        ("type", "n", *_GROUPED, "no_answer_fp"),
        [
            (
                name,
                str(group.n),
                *(
                    cell(group.metrics.get(m), group.intervals.get(m), m)
                    for m in (*_GROUPED, "no_answer_fp")
                ),
            )
            for name, group in report.configs[config].by_type.items()
        ],
    )


def _floor(report: SavedReport) -> str:
    return _table(
        ("configuration", "floor", "AUROC", "AUGRC", "false refusals", "leaks"),
        [(name, *floor_cells(figures)) for name, figures in report.configs.items()],
    )


def floor_cells(figures: SavedFigures) -> list[str]:
    """Floor and the quality of the top cosine as a detector."""
    quality, floor = figures.floor_quality, figures.calibrated_floor
    values = (quality.auroc, quality.augrc, quality.false_refusal, quality.leak)
    return [
        "none" if floor is None else f"{floor:.2f}",
        *("unscored" if value is None else f"{value:.3f}" for value in values),
    ]


def _misses(group: Misses) -> str:
    lines = [f"<details><summary>{group.title}: {len(group.rows)}</summary>", ""]
    for row in group.rows:
        wanted = ", ".join(sections_of(row)) or "nothing"
        came = "; ".join(f"{h.slug}#{h.anchor} {h.cosine or 0:.2f}" for h in group.came(row))
        lines.append(
            f"- **{row.id}** {_plain(row.question)}<br>expected {_plain(wanted)}<br>"
            f"came {_plain(came or 'nothing')}"
        )
    return "\n".join([*lines, "", "</details>"])


def sections_of(row: SavedRow) -> list[str]:
    """The labelled sections, or the articles where no section is labelled."""
    return [f"{s.slug}#{s.anchor}" for s in row.sections] or list(row.expected)
