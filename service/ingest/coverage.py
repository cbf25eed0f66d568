"""Has everything been read? Holds the words of an article's source against its cleaned text.

The source is scanned with a few rough patterns of its own, independent of the readers whose work
it checks: what a reader loses, this must still see.
"""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from service.types import Article, BlockKind, Chunk

_WORD = re.compile(r"[^\W_]+")  # underscores may be emphasis
_MIN_DUPLICATE_WORDS = 12  # shorter paragraphs repeat for good reasons; chosen, not measured

# What readers never see, or not as words.
_INVISIBLE = re.compile(
    r"<!--.*?-->|\{/\*.*?\*/\}"  # comments
    r"|<(script|style)\b.*?</\1>"
    r"|</?(?:[A-Za-z][\w.:-]*)?(?:\s(?:\"[^\"]*\"|'[^']*'|"
    r"\{[^{}]*(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}[^{}]*)*\}|[^>\"'{}])*)?/?>"  # tags
    r"|(?<=\])\(\s*[^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)"  # link targets
    r"|(?<=\])\[[^\]\n]*\]"  # link references
    r"|^[ \t]*\[[^\]\n]+\]:\s*[^\n]*"  # link definitions
    r"|^[ \t>]*(?:[-*+]|\d{1,9}[.)])(?=[ \t])"  # list markers
    r"|\{#[\w.-]+\}|\{:[^}\n]*\}|\{\{[<%].*?[%>]\}\}|\{%.*?%\}"
    r"|^[ \t]*(?::{3,}|!{3}|\?{3}\+?|={3}\+?)[ \t]*\w*"  # aside, admonition and tab markers
    r"|^[ \t>]*\[![A-Z]+\]"  # alert markers
    r"|\[\^[^\]\s]+\]:?"  # footnote marks
    r"|<(?:https?|mailto):[^>\s]*>",
    re.DOTALL | re.MULTILINE,
)
_ESM = re.compile(r"(?:\A\s*|\n[ \t]*\n\s*)(?:import|export)\b[^\n]*(?:\n(?![ \t]*\n)[^\n]*)*")
_EXPRESSION = re.compile(r"\{[^{}\"']*(?:\{[^{}]*\}[^{}\"']*)*\}")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_FENCE = re.compile(
    r"^(?P<lead>[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+)?)(?P<mark>`{3,}|~{3,})[^\n]*\n"
    r"(?P<code>.*?)^[ \t>]*(?P=mark)[`~]*[ \t]*$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of an article's source came through."""

    words: int  # in the source
    missing: int
    first_missing: tuple[int, str] | None  # line of the body, 1-based, and the word

    @property
    def share(self) -> float:
        """0 to 1; 1 for a source without words."""
        return 1 - self.missing / self.words if self.words else 1.0


def coverage(source: str, cleaned: str, *, mdx: bool) -> Coverage:
    """Words of the source that the cleaned text has, each as often as the source has it."""
    left = Counter(m.group().casefold() for m in _WORD.finditer(cleaned))
    known = frozenset(left)
    total = 0
    missing: list[tuple[int, str]] = []
    for line, word in source_words(source, mdx=mdx):
        total += 1
        if left[word] > 0:
            left[word] -= 1
        else:
            missing.append((line, word))
    # a word that occurs nowhere points at the lost place; another may only be one too few
    telling = [place for place in missing if place[1] not in known]
    first = next(iter([*telling, *missing]), None)
    return Coverage(words=total, missing=len(missing), first_missing=first)


def source_words(source: str, *, mdx: bool = False) -> Iterator[tuple[int, str]]:
    """(line, word) of everything a reader should see, in order."""
    position = 0
    for fence in _FENCE.finditer(source):
        yield from _words(_visible(source[position : fence.start()], mdx=mdx), source, position)
        yield from _words(fence["code"], source, fence.start("code"))
        position = fence.end()
    yield from _words(_visible(source[position:], mdx=mdx), source, position)


def _visible(prose: str, *, mdx: bool) -> str:
    patterns = (_ESM, _INVISIBLE, _EXPRESSION) if mdx else (_INVISIBLE,)
    for pattern in patterns:
        prose = pattern.sub(lambda m: " " + "\n" * m.group().count("\n"), prose)
    return html.unescape(_ESCAPE.sub(r"\1", prose))


def _words(text: str, source: str, position: int) -> Iterator[tuple[int, str]]:
    line = source.count("\n", 0, position) + 1
    for number, content in enumerate(text.split("\n"), start=line):
        for match in _WORD.finditer(content):
            yield number, match.group().casefold()


def covered_share(article: Article, chunks: Sequence[Chunk]) -> float:
    """Share of the cleaned text's words that lie in some chunk; 1 for an empty article."""
    words = [m.span() for m in _WORD.finditer(article.text)]
    inside, at = 0, 0
    for start, end in words:
        while at < len(chunks) and chunks[at].end < end:
            at += 1
        inside += at < len(chunks) and chunks[at].start <= start
    return inside / len(words) if words else 1.0


def duplicate_paragraphs(articles: Iterable[Article]) -> list[tuple[str, tuple[str, ...]]]:
    """Paragraphs that stand word for word in several articles, with the articles' slugs."""
    slugs_by_text: dict[str, list[str]] = defaultdict(list)
    for article in articles:
        for block in article.blocks:
            text = " ".join(article.text[block.start : block.end].split())
            long = len(text.split()) >= _MIN_DUPLICATE_WORDS
            if block.kind is BlockKind.PROSE and long and article.slug not in slugs_by_text[text]:
                slugs_by_text[text].append(article.slug)
    return [(text, tuple(slugs)) for text, slugs in slugs_by_text.items() if len(slugs) > 1]
