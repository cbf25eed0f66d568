"""check-anchors: whether the built website has every anchor that citations link to."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args
from urllib.parse import unquote, urlsplit

from service.ask.links import article_url
from service.cli.terminal import console, notes, print_json
from service.ingest.articles import Folder, read_folder
from service.ingest.generators import anchor_style
from service.ingest.sitecheck import SiteReport, check_site
from service.ingest.slugs import AnchorStyle
from service.settings import Settings, load_settings
from service.types import Article

_MOST_SHOWN = 50  # of each kind, for people; chosen, not measured


async def check_anchors_command(args: argparse.Namespace) -> int:
    """Compare the articles' anchors with the built pages; 1 if any page or anchor is missing."""
    settings = load_settings(content=args.content)
    style = anchor_style(settings.content, settings.anchors)
    folder, report = check(settings, args.site_dir, style)
    is_fine = report.is_complete and not folder.failures
    better = "" if report.is_complete else _better_style(settings, args.site_dir, style, report)
    if args.json:
        print_json(report_json(folder, report, style, better))
    else:
        _print_report(folder, report, style, better)
    return 0 if is_fine else 1


def check(settings: Settings, site_dir: Path, style: AnchorStyle) -> tuple[Folder, SiteReport]:
    """What the articles promise in this style, compared with the site."""
    folder = read_folder(settings.content, anchors=style)
    template = settings.url_template
    paths = {article.slug: _path(article, template) for article in folder.articles}
    prefix = urlsplit(template.partition("{slug}")[0]).path
    return folder, check_site(folder.articles, site_dir, paths, prefix=unquote(prefix))


def _path(article: Article, template: str) -> str:
    url = article.url or article_url(template, article.slug)
    return unquote(urlsplit(url).path)


def _better_style(settings: Settings, site_dir: Path, style: AnchorStyle, found: SiteReport) -> str:
    """The style with the fewest missing anchors, if that is another one."""
    if not found.missing_anchors:
        return ""
    missing = {
        other: len(check(settings, site_dir, other)[1].missing_anchors)
        for other in get_args(AnchorStyle)
        if other != style
    }
    best = min(missing, key=lambda other: missing[other])
    return str(best) if missing[best] < len(found.missing_anchors) else ""


def report_json(
    folder: Folder, report: SiteReport, style: AnchorStyle, better: str
) -> dict[str, Any]:
    """The report, for programs."""
    return {
        **asdict(report),
        "style": style,
        "better_style": better or None,
        "failures": [asdict(failure) for failure in folder.failures],
    }


def _print_report(folder: Folder, report: SiteReport, style: AnchorStyle, better: str) -> None:
    """What is missing, for people; the counts last, where they are seen."""
    lines = [
        f"no page for {page.slug}: looked for {', '.join(page.looked_for)}"
        for page in report.missing_pages
    ]
    _print_some(lines)
    lines = [
        f"{gone.page}: no id {gone.anchor!r} for the heading {gone.heading!r}"
        + (f"; nearest {gone.nearest!r}" if gone.nearest else "")
        for gone in report.missing_anchors
    ]
    _print_some(lines)
    for failure in folder.failures:
        notes.print(f"failed: {failure.message}", style="red", markup=False)
    console.print(
        f"{report.articles} articles, {report.anchors} anchors ({style}): "
        f"{len(report.missing_pages)} pages and {len(report.missing_anchors)} anchors missing"
    )
    if better:
        console.print(f"ASK_BLOG_ANCHORS={better} fits this site better.")


def _print_some(lines: list[str]) -> None:
    for line in lines[:_MOST_SHOWN]:
        console.print(line, markup=False)
    if len(lines) > _MOST_SHOWN:
        console.print(f"… and {len(lines) - _MOST_SHOWN} more; --json names all")
