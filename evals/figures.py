"""Which numbers of a report go into which plot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evals.plots import Axes, Estimate, Line, Mark, bars, intervals, lines, slopes
from evals.report import NOT_FOUND, rank_of
from evals.saved import SavedGroup, SavedReport

_METRIC = "recall@3"


def by_type(report: SavedReport, shown: Sequence[str]) -> str:
    """Recall of each type with its interval, a row for each configuration."""
    types = [name for name in report.configs[shown[0]].by_type if name != "no-answer"]
    estimates = []
    for type_ in types:
        for n, config in enumerate(shown):
            group = report.configs[config].by_type.get(type_)
            if group and (estimate := _estimate(group, type_, n)):
                estimates.append(estimate)
    return intervals(estimates, name=f"{_METRIC} by type of question", axis=_METRIC)


def _estimate(group: SavedGroup, type_: str, series: int) -> Estimate | None:
    value, interval = group.metrics.get(_METRIC), group.intervals.get(_METRIC)
    if value is None or interval is None:
        return None
    return Estimate(
        group=type_,
        series=series,
        value=value,
        low=interval[0],
        high=interval[1],
        note=f"{value:.2f}, n={group.n}",
    )


def floor_curve(report: SavedReport, config: str) -> str:
    """What each floor loses and lets through, as shares of their own kind."""
    found = report.configs[config]
    table = found.floor_table
    known, strangers = found.n.get("answerable", 0) or 1, found.n.get("no_answer", 0) or 1
    curves = [
        Line(name="expected answers lost", points=tuple((r.floor, r.lost / known) for r in table)),
        Line(
            name="no-answer questions let through",
            points=tuple((r.floor, r.false_positives / strangers) for r in table),
        ),
    ]
    floor = found.calibrated_floor
    marks = [Mark(x=floor, name=f"calibrated: {floor:.2f}")] if floor is not None else []
    low, high = (table[0].floor, table[-1].floor) if table else (0.0, 1.0)
    axes = Axes(x="cosine floor", y="share", x_range=(low, high))
    return lines(curves, axes, marks, name="What each floor loses and lets through")


def risk_coverage(report: SavedReport, shown: Sequence[str]) -> str:
    """Selective risk over coverage."""
    curves = [
        Line(
            name=name,
            points=tuple(
                (point.coverage, point.selective_risk)
                for point in report.configs[name].floor_quality.risk_coverage
            ),
        )
        for name in shown
    ]
    highest = max((y for curve in curves for _, y in curve.points), default=1.0)
    axes = Axes(
        x="coverage: share answered",
        y="risk",
        x_range=(0.0, 1.0),
        y_range=(0.0, min(1.0, max(0.1, highest * 1.1))),
    )
    return lines(curves, axes, name="Risk over coverage")


def latency(report: SavedReport, main: str, shown: Sequence[str]) -> str:
    """Cumulative share of the calls over milliseconds, up to the slowest p99."""
    times = {
        name: sorted(1000 * r.seconds for r in report.per_question[name] if r.seconds is not None)
        for name in shown
    }
    longest = max((row[(99 * len(row) - 1) // 100] for row in times.values() if row), default=1.0)
    curves = [
        Line(
            name=name,
            steps=True,
            points=(
                (0.0, 0.0),
                *((t, n / len(row)) for n, t in enumerate(row, 1) if t <= longest),
            ),
        )
        for name, row in times.items()
    ]
    shares = report.configs[main].latency_ms
    marks = [Mark(x=shares[p], name=f"{p} {shares[p]:.0f} ms") for p in ("p50", "p95")]
    axes = Axes(x="milliseconds", y="share of calls", x_range=(0.0, longest))
    return lines(
        curves, axes, [m for m in marks if m.x <= longest], name="Latency of the search call"
    )


# ---------------------------------------------------------------- ranks


def _rival(main: str, shown: Sequence[str]) -> str | None:
    return next((name for name in shown if name != main), None)


def ranks_title(report: SavedReport, main: str, shown: Sequence[str]) -> str:
    """Two configurations are compared, a single one is described."""
    return "How each question's rank changes" if _rival(main, shown) else "Where the article stands"


def ranks(report: SavedReport, main: str, shown: Sequence[str]) -> str:
    """A line for each question between two configurations, or a column for each rank."""
    rival = _rival(main, shown)
    if rival is None:
        found = Counter(rank_of(r) for r in report.per_question[main] if r.expected)
        words = [*map(str, range(1, NOT_FOUND)), "none"]
        counts = [(word, found[rank]) for rank, word in enumerate(words, 1)]
        return bars(counts, name="Questions by rank", axis="rank of the expected article")
    return slopes(
        _moves(report, rival, main),
        (rival, main),
        worst=NOT_FOUND,
        name=f"Ranks under {rival} and {main}",
    )


def _moves(report: SavedReport, before: str, after: str) -> list[tuple[str, int, int]]:
    new = {row.id: rank_of(row) for row in report.per_question[after]}
    return [
        (row.id, rank_of(row), new[row.id])
        for row in report.per_question[before]
        if row.expected and row.id in new
    ]


def ranks_caption(report: SavedReport, main: str, shown: Sequence[str]) -> str:
    """What to look for."""
    rival = _rival(main, shown)
    if rival is None:
        return "Number of questions whose expected article first appears at this rank of excerpts."
    moves = _moves(report, rival, main)
    better = sum(new < old for _, old, new in moves)
    worse = sum(new > old for _, old, new in moves)
    return (
        f"Rank of the expected article under {rival} (left) and {main} (right): {better} questions "
        f"rise, {worse} fall, {len(moves) - better - worse} stay. Thicker lines are more questions."
    )
