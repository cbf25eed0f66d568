"""Articles and the folder of their built website in; pages and anchors that are missing out.

A citation opens `page#anchor`, so every section's anchor has to be an id in the article's page.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from service.errors import ConfigError
from service.types import Article

_PAGE_SUFFIXES = (".html", ".htm")
_LEAST_SIMILARITY = 0.3  # below it an id is no help; chosen, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPage:
    """An article whose page is not in the folder."""

    slug: str
    looked_for: tuple[str, ...]  # relative to the folder


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingAnchor:
    """A section whose link would open the top of the page."""

    slug: str
    page: str  # relative to the folder
    heading: str
    anchor: str
    nearest: str | None  # the id in the page that looks most like it


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteReport:
    """What was compared, and what is missing."""

    articles: int
    anchors: int  # of the articles whose page is there
    missing_pages: tuple[MissingPage, ...]
    missing_anchors: tuple[MissingAnchor, ...]

    @property
    def is_complete(self) -> bool:
        """Whether every citation opens the section it names."""
        return not self.missing_pages and not self.missing_anchors


def check_site(
    articles: Sequence[Article], site_dir: Path, path_by_slug: Mapping[str, str], *, prefix: str
) -> SiteReport:
    """Compare all anchors of the articles with the ids in their pages.

    `path_by_slug` has the path of each article's address, and `prefix` is what they share, which
    the folder may or may not contain. Raises ConfigError if the folder holds no page.
    """
    _require_pages(site_dir)
    anchors = 0
    missing_pages: list[MissingPage] = []
    missing_anchors: list[MissingAnchor] = []
    for article in articles:
        names = tuple(dict.fromkeys(_page_names(path_by_slug[article.slug], prefix)))
        page = next((name for name in names if (site_dir / name).is_file()), None)
        if page is None:
            missing_pages.append(MissingPage(slug=article.slug, looked_for=names))
            continue
        ids = ids_of((site_dir / page).read_text("utf-8", errors="replace"))
        anchors += sum(1 for section in article.sections if section.anchor)
        missing_anchors += _missing(article, page, ids)
    return SiteReport(
        articles=len(articles),
        anchors=anchors,
        missing_pages=tuple(missing_pages),
        missing_anchors=tuple(missing_anchors),
    )


def ids_of(html: str) -> dict[str, None]:
    """Everything a fragment can point at, in order: `id` of any element and `name` of links."""
    collector = _Ids()
    collector.feed(html)
    collector.close()
    return collector.ids


class _Ids(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: dict[str, None] = {}

    def handle_starttag(self, tag: str, attrs: Iterable[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.ids[value] = None


def _missing(article: Article, page: str, ids: Mapping[str, None]) -> Iterator[MissingAnchor]:
    for section in article.sections:
        if section.anchor and section.anchor not in ids:
            near = difflib.get_close_matches(section.anchor, ids, n=1, cutoff=_LEAST_SIMILARITY)
            yield MissingAnchor(
                slug=article.slug,
                page=page,
                heading=section.heading,
                anchor=section.anchor,
                nearest=near[0] if near else None,
            )


def _page_names(path: str, prefix: str) -> Iterator[str]:
    """Where generators put the page of an address, with and without the shared prefix."""
    path, prefix = path.strip("/"), prefix.strip("/")
    yield from _names(path)
    if prefix and f"{path}/".startswith(f"{prefix}/"):
        yield from _names(path[len(prefix) :].strip("/"))


def _names(path: str) -> Iterator[str]:
    if path.endswith(_PAGE_SUFFIXES):
        yield path
    yield f"{path}/index.html".lstrip("/")
    if path:
        yield f"{path}.html"


def _require_pages(site_dir: Path) -> None:
    if not site_dir.is_dir():
        raise ConfigError(f"{site_dir} is no folder: build the site and name its output folder")
    if next(site_dir.rglob("*.html"), None) is None:
        raise ConfigError(f"{site_dir} holds no .html file: name the folder of the built site")
