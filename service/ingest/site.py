"""A folder of built HTML pages in, the same `Folder` as from Markdown out.

Whatever generator built them: of each page the main element is read, turned into Markdown and
handed to the same reader. Pages that are no article are left out as drafts are.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePosixPath

import soupsieve
from bs4 import BeautifulSoup, Tag

from service.errors import ContentError
from service.ingest import html_content as content
from service.ingest.articles import Draft, Failure, Folder
from service.ingest.html_markdown import class_names, markdown_of
from service.ingest.language import page_of
from service.ingest.markdown import Cleaned, read_markdown
from service.types import Article, Section

EXTENSIONS = (".html", ".htm")
MAX_BYTES = 20_000_000  # chosen, not measured: a larger file is an export, not an article

_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset=["']?\s*([\w-]{2,40})""", re.IGNORECASE)
_BESIDE = "404 500 genindex offline print_page py-modindex search searchindex sitemap"
_NO_ARTICLES = frozenset(_BESIDE.split())  # file names of pages that generators add
_OVERVIEWS = "archive archives author authors categories category page tag tags"
_LISTING_PARTS = frozenset(_OVERVIEWS.split())
_LISTING_CLASSES = re.compile(
    r"blog-(?:list|archive|tags|authors)\S*-page|docs-tags?-\S*page|list|taxonomy|term|archive"
)
_LISTING_LINKS = 0.9  # chosen, not measured: share of a page's characters in links to others
_SOME_LINKS = 0.4  # chosen, not measured: the same where the path speaks for a listing as well
_MARK = re.compile(r"/(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What the head of a page says."""

    title: str  # og:title, else <title>
    site_name: str
    language: str
    published: str
    url: str | None
    left_out: str  # why the page is no article; "" if it may be one


def read_site(
    folder: Path,
    *,
    default_language: str = "en",
    main_selector: str | None = None,
    drop_selectors: Sequence[str] = (),
) -> Folder:
    """Read all pages below `folder`, or the one file it is.

    With `main_selector`, a page without a match is left out. Raises ContentError if there is no
    such folder, a selector is not CSS, or no page at all is an article.
    """
    for selector in (main_selector, *drop_selectors):
        _check_selector(selector)
    root = folder.parent if folder.is_file() else folder
    articles: list[Article] = []
    drafts: list[Draft] = []
    failures: list[Failure] = []
    slugs: set[str] = set()
    reasons: Counter[str] = Counter()
    for path in _paths(folder):
        name = path.relative_to(root).as_posix()
        try:
            page = _read(path, name, default_language, main_selector, drop_selectors)
        except ContentError as error:
            failures.append(Failure(path=name, message=str(error)))
            continue
        if isinstance(page, str):
            reasons[page] += 1
            drafts.append(Draft(path=name, slug=_slug(name)))
        elif page.slug in slugs:
            message = f"{name}: another file has the slug `{page.slug}`: leave one of them out"
            failures.append(Failure(path=name, message=message))
        else:
            slugs.add(page.slug)
            articles.append(page)
    if not articles and not failures:
        raise ContentError(_nothing_left(folder, reasons))
    found = _with_urls_of_their_own(articles)
    return Folder(articles=found, drafts=tuple(drafts), failures=tuple(failures))


def _check_selector(selector: str | None) -> None:
    try:
        soupsieve.compile(selector or "main")
    except soupsieve.SelectorSyntaxError as error:
        raise ContentError(f"{selector!r} is not a CSS selector: {error}".split("\n")[0]) from error


def _paths(folder: Path) -> list[Path]:
    if folder.is_file():
        if folder.suffix.lower() not in EXTENSIONS:
            raise ContentError(f"{folder} is not a page: name a .html file, or a folder")
        return [folder]
    if not folder.is_dir():
        raise ContentError(f"{folder} does not exist: build your site, then name its output")
    paths = sorted(_walk(folder), key=lambda path: path.relative_to(folder).parts)
    if not paths:
        raise ContentError(f"{folder} holds no .html file: build your site, then name its output")
    return paths


def _walk(folder: Path) -> Iterator[Path]:
    for directory, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in files:
            if not name.startswith((".", "_")) and name.lower().endswith(EXTENSIONS):
                yield Path(directory, name)


def _slug(name: str) -> str:
    return name[: name.rindex(".")]


def _nothing_left(folder: Path, reasons: Counter[str]) -> str:
    counts = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    advice = "name the article's element with --main-selector"
    return f"no page of {folder} is an article ({counts}): {advice}"


def _with_urls_of_their_own(articles: Sequence[Article]) -> tuple[Article, ...]:
    """An address that several pages claim is a template's mistake and leads to none of them."""
    claimed = Counter(article.url for article in articles if article.url)
    warning = "the canonical address is that of other pages, too; the URL template is used"
    return tuple(
        replace(article, url=None, warnings=(*article.warnings, warning))
        if article.url and claimed[article.url] > 1
        else article
        for article in articles
    )


def _read(
    path: Path, name: str, default_language: str, selector: str | None, drops: Sequence[str]
) -> Article | str:
    """The article, or why the page is none. Raises ContentError naming the file."""
    page = content.parsed(_decoded(path, name))
    facts = _facts(page)
    if reason := facts.left_out or _left_out_by_name(name):
        return reason
    main = content.main_of(page, selector)
    if main is None:
        return "without a match of the main selector"
    published = facts.published or _time_in(main)
    content.clean(main, drops)
    if not selector and _is_listing(page, main, name):
        return "listing others"
    if not content.words_of(main):
        raise ContentError(
            f"{name}: no text outside of navigation: is it drawn by a script? If not, name the"
            " article's element with --main-selector"
        )
    return _article(name, facts, main, selector, published, default_language)


def _article(
    name: str, facts: _Facts, main: Tag, selector: str | None, published: str, language: str
) -> Article:
    body = main if selector else content.narrowed(main)
    anchors = content.mark_headings(main)
    title = _title(main, facts) or _slug(name).rsplit("/", 1)[-1]
    _drop_title(body, title)
    try:
        markdown = markdown_of(body)
    except RecursionError as error:
        raise ContentError(f"{name}: elements are nested too deeply to be read") from error
    cleaned = read_markdown(markdown, indented_code=False, title=title)
    warnings: list[str] = []
    slug = _slug(name)
    spoken = facts.language or language
    return Article(
        slug=slug,
        page=page_of(slug, spoken),
        title=title,
        text=cleaned.text,
        sections=_with_anchors(cleaned, anchors),
        blocks=cleaned.blocks,
        published=_date(published, warnings),
        language=spoken,
        url=facts.url,
        warnings=(*warnings, *(() if cleaned.text else ("the article has no text",))),
    )


def _with_anchors(cleaned: Cleaned, anchors: Sequence[str]) -> tuple[Section, ...]:
    """The sections with the ids of the page instead of the marks of their headings."""
    sections: list[Section] = []
    for section in cleaned.sections:
        mark = _MARK.fullmatch(section.anchor)
        before = sections[-1].anchor if sections else ""
        sections.append(replace(section, anchor=anchors[int(mark[1])] if mark else before))
    return tuple(sections)


def _title(main: Tag, facts: _Facts) -> str:
    """The first level-one heading, else the page's title without the name of the site."""
    heading = main.find("h1")
    if isinstance(heading, Tag) and (shown := content.words_of(heading)):
        return shown
    if facts.site_name:
        return re.sub(rf"\s*\S\s*{re.escape(facts.site_name)}$", "", facts.title) or facts.title
    return facts.title


def _drop_title(body: Tag, title: str) -> None:
    """A title without an id is no section of its own: a link to the page opens it."""
    heading = body.find("h1")
    if not isinstance(heading, Tag) or content.heading_id(heading):
        return
    if content.words_of(heading) == title:
        heading.decompose()


def _decoded(path: Path, name: str) -> str:
    """The text in the declared encoding, else in UTF-8."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ContentError(f"{name}: cannot be read: {error.strerror}") from error
    if len(raw) > MAX_BYTES:
        raise ContentError(f"{name}: larger than {MAX_BYTES // 1_000_000} MB: leave it out")
    declared = _CHARSET.search(raw[:1024])
    encoding = declared[1].decode("ascii").lower() if declared else "utf-8"
    try:
        return raw.decode("utf-8-sig" if encoding in ("utf-8", "utf8") else encoding)
    except UnicodeDecodeError as error:
        raise ContentError(
            f"{name}: byte {error.start} is not {encoding.upper()}: save the file as UTF-8"
        ) from error
    except LookupError as error:
        raise ContentError(f"{name}: the encoding {encoding!r} is not known: use UTF-8") from error


def _facts(page: BeautifulSoup) -> _Facts:
    html = page.find("html")
    language = str(html.get("lang", "")) if isinstance(html, Tag) else ""
    head = page.head or page
    canonical = head.select_one("link[rel~=canonical][href]")
    url = str(canonical["href"]).partition("#")[0].strip() if canonical else ""
    shown = head.find("title")
    title = _meta(head, "og:title") or (content.words_of(shown) if isinstance(shown, Tag) else "")
    return _Facts(
        title=" ".join(title.split()),
        site_name=" ".join(_meta(head, "og:site_name").split()),
        language=re.split("[-_]", language.strip())[0].lower(),
        published=_meta(head, "article:published_time"),
        url=url if re.match(r"https?://[^\s/]+", url) else None,
        left_out=_left_out_by_head(head),
    )


def _meta(head: Tag, name: str) -> str:
    found = head.select_one(f'meta[property="{name}"][content],meta[name="{name}"][content]')
    return str(found["content"]).strip() if found else ""


def _left_out_by_head(head: Tag) -> str:
    if head.select_one('meta[http-equiv="refresh" i][content*="url" i]'):
        return "redirecting"
    if head.select_one('meta[name="robots" i][content*="noindex" i]'):
        return "marked noindex"
    return ""


def _left_out_by_name(name: str) -> str:
    path = PurePosixPath(_slug(name))
    stem = path.parent.name if path.name == "index" else path.name
    return "that is no article by its name" if stem in _NO_ARTICLES else ""


def _time_in(main: Tag) -> str:
    found = main.select_one("[itemprop~=datePublished][datetime],time[datetime]")
    return str(found["datetime"]).strip() if found else ""


def _date(value: str, warnings: list[str]) -> str | None:
    """The ISO date; one that cannot be read costs a warning, not the article."""
    if not value:
        return None
    try:
        return datetime.fromisoformat(value).date().isoformat()
    except ValueError:
        warnings.append(f"the date {value!r} is not of the form 2024-12-31")
        return None


def _is_listing(page: BeautifulSoup, main: Tag, name: str) -> bool:
    """Whether a page shows what other pages hold: posts, tags, authors, an archive."""
    names = (name for element in page.select("html,body") for name in class_names(element))
    if any(map(_LISTING_CLASSES.fullmatch, names)):
        return True
    share = content.link_share(main)
    is_suspect = not _LISTING_PARTS.isdisjoint(PurePosixPath(_slug(name)).parts)
    if share >= (_SOME_LINKS if is_suspect else _LISTING_LINKS):
        return True
    headings = [h for h in main.find_all(content.HEADINGS[1:]) if content.words_of(h)]
    return len(headings) > 1 and all(map(_leads_elsewhere, headings))


def _leads_elsewhere(heading: Tag) -> bool:
    """Whether all of a heading, or the heading itself, is a link to another page."""
    link = heading.select_one("a[href]") or heading.find_parent("a")
    if not isinstance(link, Tag):
        return False
    text = content.words_of(heading)
    return "#" not in str(link.get("href", "")) and text in content.words_of(link)
