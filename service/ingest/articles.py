"""A folder of Markdown and MDX files in, `Article` values out; broken files become failures.

One broken file never stops the others. Drafts and names that start with `_` are left out.
"""

from __future__ import annotations

import itertools
import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import yaml

from service.errors import ContentError
from service.ingest.coverage import coverage
from service.ingest.generators import Anchors, anchor_style
from service.ingest.headings import spelled_out
from service.ingest.language import article_language, page_of
from service.ingest.lexer import PLACEHOLDER
from service.ingest.markdown import Cleaned, read_markdown
from service.ingest.mdx import strip_mdx
from service.ingest.slugs import AnchorStyle
from service.types import Article, BlockKind

EXTENSIONS = (".md", ".mdx")
DATE_FIELDS = ("date", "pubDate", "published")  # of Jekyll and Hugo, of Astro, of others

_FRONT_MATTER = re.compile(
    r"(?P<mark>---|\+\+\+)[ \t]*\n(?P<fields>.*?)^(?P=mark)[ \t]*(?:\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_UNCLOSED = re.compile(r"---[ \t]*\n[A-Za-z_]\w*:(?:[ \t]|\n)|\+\+\+[ \t]*\n[A-Za-z_]\w*[ \t]*=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A file that could not be read, and why."""

    path: str  # relative to the folder
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A file whose author does not want it published."""

    path: str  # relative to the folder
    slug: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """Everything found in a folder of articles, in order of path."""

    articles: tuple[Article, ...]
    drafts: tuple[Draft, ...]
    failures: tuple[Failure, ...]


def read_folder(folder: Path, *, default_language: str = "en", anchors: Anchors = "auto") -> Folder:
    """Read all articles below `folder`, or the one file it is.

    `anchors` says which generator's ids the headings get; `auto` finds out from the files around.
    Raises ContentError if there is no such folder or nothing in it to read.
    """
    root = folder.parent if folder.is_file() else folder
    paths = _paths(folder)
    style = anchor_style(folder, anchors)
    articles: list[Article] = []
    drafts: list[Draft] = []
    failures: list[Failure] = []
    path_by_slug: dict[str, str] = {}
    for path in paths:
        relative = path.relative_to(root).as_posix()
        try:
            article = read_article(path, root, default_language=default_language, anchors=style)
        except ContentError as error:
            failures.append(Failure(path=relative, message=str(error)))
            continue
        if isinstance(article, Draft):
            drafts.append(article)
        elif article.slug in path_by_slug:
            message = _duplicate(relative, path_by_slug[article.slug], article.slug)
            failures.append(Failure(path=relative, message=message))
        else:
            path_by_slug[article.slug] = relative
            articles.append(article)
    return Folder(articles=tuple(articles), drafts=tuple(drafts), failures=tuple(failures))


def read_article(
    path: Path, root: Path, *, default_language: str = "en", anchors: AnchorStyle = "github"
) -> Article | Draft:
    """Read one file. Raises ContentError naming file and line or byte."""
    name = path.relative_to(root).as_posix()
    raw, warnings = _decoded(path, name)
    front, body = _split_front_matter(raw, name)
    slug = front.text("slug").strip("/") or name[: name.rindex(".")]
    if front.fields.get("draft") is True:
        return Draft(path=name, slug=slug)
    mdx = path.suffix.lower() == ".mdx"
    stripped = strip_mdx(body if mdx else spelled_out(body, anchors), mdx=mdx)
    cleaned = read_markdown(
        stripped.markdown,
        indented_code=not mdx,
        title=front.text("title"),
        fallback_title=slug.rsplit("/", 1)[-1],
        anchors=anchors,
    )
    published = front.date(warnings)
    if not cleaned.text:
        warnings.append("the article has no text")
    read = coverage(body, cleaned.text, mdx=mdx)
    if read.first_missing:
        line, word = read.first_missing
        line += raw.count("\n", 0, len(raw) - len(body))
        warnings.append(
            f"{read.missing} of {read.words} words of the source were not read, "
            f"first {word!r} on line {line}"
        )
    language = article_language(front.language(), slug, _prose(cleaned), default_language)
    return Article(
        slug=slug,
        title=cleaned.title,
        text=cleaned.text,
        sections=cleaned.sections,
        blocks=cleaned.blocks,
        published=published,
        language=language,
        page=page_of(slug, language),
        coverage=read.share,
        warnings=(*warnings, *stripped.warnings),
    )


def _prose(cleaned: Cleaned) -> str:
    """What a language can be told by: paragraphs, no code."""
    spans = ((b.start, b.end) for b in cleaned.blocks if b.kind is BlockKind.PROSE)
    return "\n".join(cleaned.text[start:end] for start, end in itertools.islice(spans, 12))


def _paths(folder: Path) -> list[Path]:
    if folder.is_file():
        if folder.suffix.lower() not in EXTENSIONS:
            raise ContentError(f"{folder} is not an article: name a .md or .mdx file, or a folder")
        return [folder]
    if not folder.is_dir():
        raise ContentError(f"{folder} does not exist: point ASK_BLOG_CONTENT at your articles")
    paths = sorted(_walk(folder), key=lambda path: path.relative_to(folder).parts)
    if not paths:
        raise ContentError(f"{folder} holds no .md or .mdx file: point ASK_BLOG_CONTENT elsewhere")
    return paths


def _walk(folder: Path) -> Iterator[Path]:
    for directory, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not _is_skipped(name)]
        for name in files:
            if not _is_skipped(name) and name.lower().endswith(EXTENSIONS):
                yield Path(directory, name)


def _is_skipped(name: str) -> bool:
    return name.startswith((".", "_")) or name == "node_modules"


def _decoded(path: Path, name: str) -> tuple[str, list[str]]:
    """The text with \n line ends, and a warning if characters had to go."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContentError(
            f"{name}: byte {error.start} is not UTF-8: save the file as UTF-8"
        ) from error
    except OSError as error:
        raise ContentError(f"{name}: cannot be read: {error.strerror}") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    clean = text.replace("\0", "").replace(PLACEHOLDER, "")
    return clean, [] if clean == text else ["characters that cannot be stored were removed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _FrontMatter:
    """The fields between the --- or +++ lines, and what is needed to point at one of them."""

    name: str  # of the file
    source: str = ""
    fields: dict[str, object]

    def text(self, key: str) -> str:
        """A field that has to be text; "" if it is not there."""
        value = self.fields.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            where = f"{self.name}:{self._line_of(key)}"
            raise ContentError(f"{where}: `{key}` has to be text: put its value in quotes")
        return " ".join(value.split())

    def date(self, warnings: list[str]) -> str | None:
        """The ISO date; one that cannot be read costs a warning, not the article."""
        value = next((self.fields[key] for key in DATE_FIELDS if self.fields.get(key)), None)
        if isinstance(value, datetime):
            return value.date().isoformat()
        if isinstance(value, date):
            return value.isoformat()
        if value is None:
            return None
        try:
            return datetime.fromisoformat(str(value).strip()).date().isoformat()
        except ValueError:
            warnings.append(f"the date {str(value)!r} is not of the form 2024-12-31")
            return None

    def language(self) -> str | None:
        """The primary tag: `pt` for `pt-BR`."""
        for key in ("lang", "language"):
            value = self.fields.get(key)
            if value is False:  # YAML 1.1 reads Norwegian's `no` so
                return "no"
            if isinstance(value, str) and (primary := re.split("[-_]", value.strip())[0]):
                return primary.lower()
        return None

    def _line_of(self, key: str) -> int:
        lines = self.source.split("\n")
        found = (n for n, line in enumerate(lines) if re.match(rf"[\"']?{key}[\"']?\s*[:=]", line))
        return next(found, 0) + 2


def _split_front_matter(raw: str, name: str) -> tuple[_FrontMatter, str]:
    match = _FRONT_MATTER.match(raw)
    if match is None and _UNCLOSED.match(raw):
        raise ContentError(f"{name}:1: the front matter is not closed: add a line of `---`")
    if match is None:
        return _FrontMatter(name=name, fields={}), raw
    load = _loaded_yaml if match["mark"] == "---" else _loaded_toml
    fields = load(match["fields"], name)
    if not isinstance(fields, dict):
        raise ContentError(f"{name}:2: the front matter has to consist of `name: value` lines")
    by_name = {str(key): value for key, value in fields.items()}
    return _FrontMatter(name=name, source=match["fields"], fields=by_name), raw[match.end() :]


def _loaded_toml(text: str, name: str) -> object:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ContentError(f"{name}:1: the front matter is not TOML: {error}") from error


def _loaded_yaml(text: str, name: str) -> object:
    """The value of the YAML; an empty front matter is an empty mapping."""
    try:
        loaded: object = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 2 if mark else 1
        problem = error.problem or error.context or "unreadable"
        raise ContentError(f"{name}:{line}: the front matter is not YAML: {problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ContentError(f"{name}:1: the front matter is not YAML: {reason}") from error
    return {} if loaded is None else loaded


def _duplicate(path: str, first: str, slug: str) -> str:
    return f"{path}: the slug `{slug}` is that of {first} already: give one of them another `slug`"
