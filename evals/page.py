"""A report as one self-contained HTML page: style sheet and plots inside, no scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from evals import figures
from evals.decide import Decision, Finding, Trial
from evals.report import (
    MEANINGS,
    Misses,
    cell,
    finding_text,
    floor_cells,
    main_config,
    misses,
    origin,
    sections_of,
    shown_configs,
    warning,
)
from evals.saved import SavedHit, SavedReport, SavedRow

STYLE = Path(__file__).with_name("page.css")
_TILES = ("recall@3", "mrr", "evidence_recall@5", "no_answer_fp")


def page(report: SavedReport, decision: Decision | None = None) -> str:
    """The whole page; with a decision where there is more than one configuration."""
    main, shown = main_config(report, decision), shown_configs(report, decision)
    body = [
        _head(report, main),
        _tiles(report, main),
        _decision(decision) if decision else "",
        "<h2>Every measure</h2>",
        _metrics(report),
        *_plots(report, main, shown),
        "<h2>What went wrong</h2>",
        f'<p class="soft">Under <code>{escape(main)}</code>. Each miss with what was expected and '
        "the passages that came instead.</p>",
        *(_misses(group) for group in misses(report, main) if group.rows),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Retrieval report</title>\n<style>\n{STYLE.read_text('utf-8')}</style>\n</head>\n"
        "<body>\n<main>\n"
        + "\n".join(part for part in body if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _head(report: SavedReport, main: str) -> str:
    found = report.configs[main]
    n, recall = found.n, found.metrics.get("recall@3")
    title = (
        f"{recall:.0%} of questions find their article in the first three excerpts"
        if recall is not None
        else "Retrieval report"
    )
    few = (
        f" {n.get('no_answer', 0)} no-answer questions say little about the floor."
        if n.get("no_answer", 0) < 30
        else ""
    )
    note = f'<p class="note">{escape(words)}</p>' if (words := warning(report)) else ""
    return (
        f'<h1>{escape(title)}</h1>\n<p class="soft">{escape(origin(report))}.</p>\n{note}\n'
        "<p>In brackets and as whiskers: 95% intervals that count questions on one article as "
        f"related.{few}</p>"
    )


def _tiles(report: SavedReport, main: str) -> str:
    found, tiles = report.configs[main], []
    for name in _TILES:
        value, interval = found.metrics.get(name), found.intervals.get(name)
        shown = "unscored" if value is None else f"{value:.2f}"
        ends = f"{interval[0]:.2f} to {interval[1]:.2f}" if interval else ""
        tiles.append(
            f'<div class="tile"><span>{escape(name)}</span><b>{shown}</b>'
            f'<span class="of">{ends}<br>{escape(MEANINGS[name])}</span></div>'
        )
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Cells are markup already."""
    named = f"<caption>{caption}</caption>" if caption else ""
    columns = "".join(f"<th>{name}</th>" for name in head)
    lines = "".join(
        f"<tr><th>{first}</th>" + "".join(f"<td>{c}</td>" for c in rest) + "</tr>\n"
        for first, *rest in rows
    )
    return (
        f'<div class="scroll"><table>{named}<thead><tr>{columns}</tr></thead>\n'
        f"<tbody>\n{lines}</tbody></table></div>"
    )


def _cell(report: SavedReport, config: str, metric: str) -> str:
    found = report.configs[config]
    value, _, ends = cell(found.metrics.get(metric), found.intervals.get(metric), metric).partition(
        " "
    )
    return escape(value) + (f" <small>{escape(ends)}</small>" if ends else "")


def _metrics(report: SavedReport) -> str:
    names = next(iter(report.configs.values())).metrics
    configs = list(report.configs)
    return _table(
        ("measure", *map(escape, configs), "what it counts"),
        [
            (
                f"<code>{escape(name)}</code>",
                *(_cell(report, config, name) for config in configs),
                f'<span class="soft">{escape(MEANINGS.get(name, ""))}</span>',
            )
            for name in names
        ],
    )


def _decision(decision: Decision) -> str:
    steps = "".join(f"<li>{escape(step)}</li>" for step in decision.steps)
    rows = [_trial(trial) for trial in decision.trials]
    rows += [
        ("untested", escape(h.claim), "configurations or questions are missing")
        for h in decision.untested
    ]
    table = _table(("verdict", "claim", "figures"), rows) if rows else ""
    winner = escape(decision.winner or "none")
    return (
        f"<h2>Chosen by the rule: <code>{winner}</code></h2>\n"
        "<p>The rule was written before the figures and goes by the means. Whether a claim is "
        f"supported goes by the interval.</p>\n<ol>{steps}</ol>\n{table}"
    )


def _trial(trial: Trial) -> tuple[str, str, str]:
    verdict = trial.verdict.value
    return (
        f'<span class="{verdict}">{verdict}</span>',
        f"{escape(trial.hypothesis.claim)}<br><code>{escape(trial.config)}</code> against "
        f"<code>{escape(trial.against)}</code>",
        "".join(_finding(finding) for finding in trial.findings),
    )


def _finding(finding: Finding) -> str:
    words, verdict = finding_text(finding), finding.verdict.value
    text = escape(words.removesuffix(f": {verdict}"))
    return f'<div class="finding">{text}: <span class="{verdict}">{verdict}</span></div>'


# ---------------------------------------------------------------- plots


def _plots(report: SavedReport, main: str, shown: Sequence[str]) -> list[str]:
    return [
        "<h2>By type of question</h2>",
        _figure(figures.by_type(report, shown), shown, "With few questions a whisker is long."),
        f"<h2>{escape(figures.ranks_title(report, main, shown))}</h2>",
        _figure(figures.ranks(report, main, shown), (), figures.ranks_caption(report, main, shown)),
        "<h2>The floor</h2>",
        _figure(
            figures.floor_curve(report, main),
            ("expected answers lost", "no-answer questions let through"),
            f"What each cosine floor would cost under {main}. Where the curves cross far above 0, "
            "no floor tells the two kinds apart.",
        ),
        _figure(
            figures.risk_coverage(report, shown),
            shown,
            "Answering only what has a high top cosine: the share answered, and of those the share "
            "answered badly (no answer exists, or its article is not among six excerpts).",
        ),
        _floors(report),
        "<h2>Latency</h2>",
        _figure(
            figures.latency(report, main, shown),
            shown,
            "Share of the search calls that took at most so long: embed, fetch, select. The dashed "
            f"lines belong to {main}.",
        ),
    ]


def _floors(report: SavedReport) -> str:
    return _table(
        ("configuration", "floor", "AUROC", "AUGRC", "false refusals", "leaks"),
        [
            (f"<code>{escape(name)}</code>", *map(escape, floor_cells(found)))
            for name, found in report.configs.items()
        ],
        "AUROC: 1 tells the two kinds of question apart, 0.5 is a coin. AUGRC: the mean share "
        "answered badly over all floors, lower is better.",
    )


def _figure(svg: str, legend: Sequence[str], caption: str) -> str:
    words = "".join(
        f'<li class="s{n}"><i></i><span>{escape(name)}</span></li>' for n, name in enumerate(legend)
    )
    listed = f'<ul class="legend">{words}</ul>' if words else ""
    return f"<figure>{listed}{svg}<figcaption>{escape(caption)}</figcaption></figure>"


# ---------------------------------------------------------------- misses


def _misses(group: Misses) -> str:
    cards = "\n".join(_miss(row, group.came(row), group.shown) for row in group.rows)
    return f"<h3>{escape(group.title)}: {len(group.rows)}</h3>\n{cards}"


def _miss(row: SavedRow, came: Sequence[SavedHit], ranked: int) -> str:
    chips = "".join(
        f'<span class="chip">{escape(word)}</span>'
        for word in dict.fromkeys((row.id, row.type, *row.tags))
    )
    wanted = ", ".join(f"<code>{escape(name)}</code>" for name in sections_of(row))
    quotes = "".join(f"<blockquote>{escape(e.quote)}</blockquote>" for e in row.evidence)
    later = next(
        (n for n, hit in enumerate(row.hits, 1) if n > ranked and hit.slug in row.expected), None
    )
    where = f" It comes at rank {later}." if later else ""
    items = "".join(_hit(hit, row) for hit in came) or "<li>nothing</li>"
    return (
        f'<details class="miss"{" open" if ranked == 3 else ""}><summary>{escape(row.question)}'
        f"{chips}</summary>\n"
        + (f"<p>Expected {wanted}.{where}</p>{quotes}" if wanted else "<p>Expected nothing.</p>")
        + f"\n<p>Came:</p><ol>{items}</ol></details>"
    )


def _hit(hit: SavedHit, row: SavedRow) -> str:
    name = f"{hit.slug}#{hit.anchor}" if hit.anchor else hit.slug
    mark = ' <span class="hit">expected article</span>' if hit.slug in row.expected else ""
    cosine = "" if hit.cosine is None else f" <small>{hit.cosine:.2f}</small>"
    words = " ".join(hit.text.split())
    more = " …" if len(hit.text) < hit.chars and words else ""
    return (
        f"<li><code>{escape(name)}</code>{cosine}{mark}"
        f'<span class="text">{escape(words)}{more}</span></li>'
    )
